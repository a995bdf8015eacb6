import { useState } from 'react';
import { type Body, perform, useAction } from '../../api/index.ts';
import type { User } from '../../api/types.gen.ts';
import { useEndingKeys } from '../../resource/index.ts';
import { endingKeys } from '../../text/en/ending-keys.ts';
import { people } from '../../text/en/people.ts';
import { ActionDialog, notify } from '../../ui/index.ts';
import { type Role, RoleSelect } from './RoleSelect.tsx';

const words = { ...people, ...endingKeys };

export type UserChange = 'changeRole' | 'useMappings' | 'suspend' | 'activate' | 'unbind' | 'remove';

const texts: Record<UserChange, string> = {
  changeRole: words.changeRoleText,
  useMappings: words.useMappingsText,
  suspend: words.suspendText,
  activate: words.activateText,
  unbind: words.unbindText,
  remove: words.removeText,
};

const bodyOf = (change: UserChange, role: Role): Body<'updateUser'> => {
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

const roles: readonly (Role | null)[] = [null, 'member', 'builder', 'admin'];

/** Sentences above the keys of the person, and above those of the workspace that they made. */
const keysOf = (change: UserChange, before: Role | null, role: Role) => {
  const made = words.madeByPerson;
  switch (change) {
    case 'suspend':
      return { own: words.ownPause, made };
    case 'remove':
      return { own: words.ownEnd, made };
    case 'unbind':
      return { own: words.ownPause, made: null };
    case 'changeRole':
      if (roles.indexOf(role) < roles.indexOf(before)) return { own: words.ownWeaker, made };
      return { own: null, made: null };
    case 'useMappings':
      // Which role they give is known afterwards. If it is a lower one, these end.
      return { own: null, made };
    default:
      return { own: null, made: null };
  }
};

export const UserDialog = ({
  user,
  change,
  onClose,
}: {
  user: User;
  change: UserChange;
  onClose: () => void;
}) => {
  const [role, setRole] = useState<Role>(user.role ?? 'member');
  const { part, endMadeKeys, disabledReason } = useEndingKeys(user.id, keysOf(change, user.role, role));
  const action = useAction(async () => {
    const params = { user_id: user.id };
    const end_made_keys = endMadeKeys;
    if (change === 'remove') await perform('deleteUser', params, { query: { end_made_keys } });
    else await perform('updateUser', params, { body: { ...bodyOf(change, role), end_made_keys } });
    notify(change === 'remove' ? words.removed : words.changed);
    onClose();
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
      disabledReason={disabledReason}
    >
      <p>
        <b>{user.name}</b> {user.email !== user.name && user.email}
      </p>
      {change === 'changeRole' && <RoleSelect value={role} onChange={setRole} />}
      <p>{texts[change]}</p>
      {part}
    </ActionDialog>
  );
};
