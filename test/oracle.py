"""An outside judge: the same robot in Pinocchio, from the same files, with dense least squares.

The tree is read by Pinocchio from the URDF, with two changes in the XML: the platform's virtual
chain becomes one floating joint (so that the platform is free in all six directions), and the
tree's root is a free flyer (so that the base may move). Closures come from the YAML. Nothing of
the library is used but the joint positions that an inverse kinematics returned, and those are
checked against the closures here.
"""

from pathlib import Path
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import yaml

LWA = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Oracle:
    """One robot as Pinocchio sees it."""

    def __init__(self, yaml_path):
        yaml_path = Path(yaml_path)
        self.settings = yaml.safe_load(yaml_path.read_text())
        tree = ET.parse(yaml_path.parent / self.settings['urdf'])
        root = tree.getroot()
        self.joint_tags = {j.get('name'): j for j in root.findall('joint')}
        base, platform = self.settings['base'], self.settings['platform']
        child_of = {j.find('child').get('link'): j for j in root.findall('joint')}
        chain, link = [], platform
        while link != base:
            chain.append(child_of[link])
            link = child_of[link].find('parent').get('link')
        for joint in chain:
            root.remove(joint)
            if joint.find('child').get('link') != platform:
                name = joint.find('child').get('link')
                root.remove(next(k for k in root.findall('link') if k.get('name') == name))
        while base in child_of:  # the base may be fixed to what carries it: make it the root
            above = child_of.pop(base)
            root.remove(above)
            name = above.find('parent').get('link')
            root.remove(next(k for k in root.findall('link') if k.get('name') == name))
            for joint in root.findall('joint'):
                assert joint.find('parent').get('link') != name, 'only the base hangs there'
        floating = ET.SubElement(root, 'joint', name='floating_platform', type='floating')
        ET.SubElement(floating, 'parent', link=base)
        ET.SubElement(floating, 'child', link=platform)
        self.model = pin.buildModelFromXML(
            ET.tostring(root, encoding='unicode'), pin.JointModelFreeFlyer()
        )
        self.data = self.model.createData()
        self.platform_joint = self.model.getJointId('floating_platform')
        self.base_frame = self.model.getFrameId(base)
        self.gravity = np.array(self.settings.get('gravity', [0.0, 0.0, -9.81]))
        self.names = [
            name for name, tag in self.joint_tags.items()
            if tag.get('type') != 'fixed' and tag not in chain
        ]
        self.actuators = self.settings['actuators']
        self.ids = {name: self.model.getJointId(name) for name in self.names
                    if self.model.existJointName(name)}

    # ------------------------------------------------------------------ state

    def configuration(self, joint_positions, m, base=None):
        """Pinocchio's q: base at the origin, platform and joints where they are."""
        q = pin.neutral(self.model)
        rotation = np.eye(3) if base is None else base.rotation
        q[3:7] = pin.Quaternion(rotation).coeffs()
        i = self.model.joints[self.platform_joint].idx_q
        q[i : i + 3] = m.position
        q[i + 3 : i + 7] = pin.Quaternion(np.array(m.rotation)).coeffs()
        for name, value in zip(self.names, joint_positions):
            joint = self.model.joints[self.ids[name]]
            if joint.nq == 2:
                q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                q[joint.idx_q] = value
        return q

    def columns(self, names=None):
        """Columns of joint rates in Pinocchio's v."""
        return [self.model.joints[self.ids[n]].idx_v for n in (names or self.names)]

    def platform_columns(self):
        i = self.model.joints[self.platform_joint].idx_v
        return list(range(i, i + 6))

    # ------------------------------------------------------------------ closures

    def closure_kinematics(self, q, v, a):
        """Residuals, Jacobian rows and drift of every closure; rows in the contract's order.

        Everything is world aligned; closures do not care about the base's motion.
        """
        model, data = self.model, self.data
        pin.forwardKinematics(model, data, q, v, a)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        residuals, rows, drifts, labels = [], [], [], []
        for closure in self.settings['closures']:
            fa, fb = (model.getFrameId(n) for n in closure['between'])
            A, B = data.oMf[fa], data.oMf[fb]
            JA, JB = (pin.getFrameJacobian(model, data, f, LWA) for f in (fa, fb))
            vA, vB = (pin.getFrameVelocity(model, data, f, LWA) for f in (fa, fb))
            aA, aB = (pin.getFrameClassicalAcceleration(model, data, f, LWA) for f in (fa, fb))
            d = A.translation - B.translation
            ddot = vA.linear - vB.linear
            wB, wrel = vB.angular, vA.angular - vB.angular
            relative = ddot - np.cross(wB, d)
            lin = JA[:3] - JB[:3] + skew(d) @ JB[3:]  # v_A - v_B - w_B x d
            ang = JA[3:] - JB[3:]
            acc = aA.linear - aB.linear - np.cross(aB.angular, d) - np.cross(wB, ddot)
            alpha = aA.angular - aB.angular
            x, y, z = B.rotation.T
            kind = closure['type']
            linear = {'ball': (x, y, z), 'weld': (x, y, z), 'revolute': (x, y, z),
                      'cylindrical': (x, y), 'plane': (z,)}[kind]
            angular = {'ball': (), 'weld': (x, y, z), 'revolute': (x, y),
                       'cylindrical': (x, y), 'plane': ()}[kind]
            for u in linear:
                residuals.append(u @ d)
                rows.append(u @ lin)
                drifts.append(u @ acc + np.cross(wB, u) @ relative)
                labels.append(closure['name'])
            twist = pin.log3(B.rotation.T @ A.rotation)
            if kind in ('revolute', 'cylindrical'):
                twist = np.cross([0, 0, 1], B.rotation.T @ A.rotation[:, 2])
            for k, u in enumerate(angular):
                residuals.append(twist[k])
                rows.append(u @ ang)
                drifts.append(u @ alpha + np.cross(wB, u) @ wrel)
                labels.append(closure['name'])
        return np.array(residuals), np.array(rows), np.array(drifts), labels

    def mimic_rows(self):
        """Rows that tie mimic joints to their masters."""
        rows = []
        for name, tag in self.joint_tags.items():
            mimic = tag.find('mimic')
            if mimic is not None and name in self.ids:
                row = np.zeros(self.model.nv)
                row[self.columns([name])[0]] = 1.0
                row[self.columns([mimic.get('joint')])[0]] = -float(mimic.get('multiplier', 1))
                rows.append(row)
        return np.array(rows).reshape(-1, self.model.nv)

    # ------------------------------------------------------------------ motion

    def base_velocity(self, base):
        v, a = np.zeros(6), np.zeros(6)
        if base is not None:
            w, al = base.angular_velocity, base.angular_acceleration
            v[:3], v[3:] = base.velocity, w
            # Pinocchio's free flyer has spatial acceleration: classical less w x v.
            a[:3] = base.acceleration - np.cross(w, base.velocity)
            a[3:] = al
        return v, a

    def motion(self, joint_positions, m, base=None):
        """Solve all rates by dense least squares; return q, v, a and the worst residuals."""
        q = self.configuration(joint_positions, m, base)
        nv, pc = self.model.nv, self.platform_columns()
        v, a = np.zeros(nv), np.zeros(nv)
        v[:6], a[:6] = self.base_velocity(base)
        R = m.rotation
        w, wd = R.T @ m.angular_velocity, R.T @ m.angular_acceleration
        vl = R.T @ m.velocity
        v[pc] = np.concatenate([vl, w])
        a[pc] = np.concatenate([R.T @ m.acceleration - np.cross(w, vl), wd])
        joint_columns = self.columns()
        residual, K, _, _ = self.closure_kinematics(q, v, a)
        tie = self.mimic_rows()
        stack = np.vstack([K, tie])
        fixed = stack[:, :6] @ v[:6] + stack[:, pc] @ v[pc]
        qd = np.linalg.lstsq(stack[:, joint_columns], -fixed, rcond=1e-11)[0]
        v[joint_columns] = qd
        _, K, drift, _ = self.closure_kinematics(q, v, np.zeros(nv))
        stack = np.vstack([K, tie])
        drift = np.concatenate([drift, np.zeros(len(tie))])
        fixed = stack[:, :6] @ a[:6] + stack[:, pc] @ a[pc] + drift
        qdd = np.linalg.lstsq(stack[:, joint_columns], -fixed, rcond=1e-11)[0]
        a[joint_columns] = qdd
        worst = (
            np.abs(residual).max(),
            np.abs(stack @ v).max(),
            np.abs(stack @ a + drift).max(),
        )
        return q, v, a, worst

    def losses(self, v, a):
        """Friction and armature efforts of every joint, in Pinocchio's columns."""
        tau = np.zeros(self.model.nv)
        armature = self.settings.get('armature', {}) or {}
        for name, column in zip(self.names, self.columns()):
            tag = self.joint_tags[name].find('dynamics')
            if tag is not None:
                tau[column] += float(tag.get('damping', 0)) * v[column]
                # The documented model: full Coulomb friction above 1e-4 m/s or rad/s.
                tau[column] += float(tag.get('friction', 0)) * np.clip(v[column] / 1e-4, -1, 1)
            tau[column] += float(armature.get(name, 0.0)) * a[column]
        return tau

    def inverse_dynamics(self, joint_positions, m, wrench=None, base=None):
        """Efforts, multipliers and the residual of the whole tree's equilibrium."""
        q, v, a, worst = self.motion(joint_positions, m, base)
        self.model.gravity.linear = self.gravity
        tau = pin.rnea(self.model, self.data, q, v, a) + self.losses(v, a)
        _, K, _, _ = self.closure_kinematics(q, v, a)
        K = np.vstack([K, self.mimic_rows()])
        pc = self.platform_columns()
        if wrench is not None:
            R = m.rotation
            tau[pc] -= np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
        selector = np.zeros((self.model.nv, len(self.actuators)))
        selector[self.columns(self.actuators), range(len(self.actuators))] = 1.0
        free = list(range(6, self.model.nv))
        unknown = np.hstack([selector, K.T])[free]
        solution, *_ = np.linalg.lstsq(unknown, tau[free], rcond=1e-11)
        residual = np.abs(unknown @ solution - tau[free]).max()
        n = len(self.actuators)
        return solution[:n], solution[n:], residual, (q, v, a, worst)
