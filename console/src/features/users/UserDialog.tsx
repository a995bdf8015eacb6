import { useState } from 'react';
import { path, request, useAction, useInvalidate } from '../../api/index.ts';
import type { User } from '../../api/types.gen.ts';
import { people as words } from '../../text/en/people.ts';
import { ActionDialog, notify } from '../../ui/index.ts';
import { type Role, RoleSelect } from './RoleSelect.tsx';

/** A change of one person. */
export type UserChange = 'changeRole' | 'useMappings' | 'suspend' | 'activate' | 'unbind' | 'remove';

const texts: Record<UserChange, string> = {
  changeRole: words.changeRoleText,
  useMappings: words.useMappingsText,
  suspend: words.suspendText,
  activate: words.activateText,
  unbind: words.unbindText,
  remove: words.removeText,
};

const bodyOf = (change: UserChange, role: Role): Record<string, unknown> => {
  switch (change) {
    case 'changeRole':
      return { role };
    case 'useMappings':
      return { role_source: 'mapping' };
    case 'suspend':
      return { status: 'suspended' };
    case 'activate':
      return { status: 'active' };
    default:
      return { identity: null };
  }
};

/** Asks before a change of a person, and says what follows from it. */
export const UserDialog = ({
  user,
  change,
  onClose,
}: {
  user: User;
  change: UserChange;
  onClose: () => void;
}) => {
  const invalidate = useInvalidate();
  const [role, setRole] = useState<Role>(user.role ?? 'member');
  const action = useAction(async () => {
    const address = path`/api/v2/users/${user.id}`;
    if (change === 'remove') await request('DELETE', address);
    else await request('PATCH', address, { body: bodyOf(change, role) });
    notify(change === 'remove' ? words.removed : words.changed);
    onClose();
    await invalidate('/api/v2/users', '/app/api/me');
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words[change]}
      kind={change === 'remove' || change === 'suspend' ? 'danger' : 'primary'}
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{user.name}</b> {user.email !== user.name && user.email}
      </p>
      {change === 'changeRole' && <RoleSelect value={role} onChange={setRole} />}
      <p>{texts[change]}</p>
    </ActionDialog>
  );
};
