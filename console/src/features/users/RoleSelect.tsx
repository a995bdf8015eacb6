import { people as words } from '../../text/en/people.ts';
import { Select } from '../../ui/index.ts';

const roles = ['member', 'builder', 'admin'] as const;
export type Role = (typeof roles)[number];

export const RoleSelect = ({ value, onChange }: { value: Role; onChange: (role: Role) => void }) => (
  <Select
    label={words.role}
    name="role"
    value={value}
    onChange={(role) => onChange(role as Role)}
    options={roles.map((role) => ({ value: role, label: words.roles[role], note: words.roleHints[role] }))}
  />
);
