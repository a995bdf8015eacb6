import { useState } from 'react';
import { usePermission } from '../../api/index.ts';
import type { User } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { people as words } from '../../text/en/people.ts';
import { ButtonLink, type MenuEntry, optionsOf, permissionReason } from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { InviteDialog } from './InviteDialog.tsx';
import { type UserChange, UserDialog } from './UserDialog.tsx';

const changesOf = ({ role_source, status, identity }: User): UserChange[] => [
  'changeRole',
  ...(role_source === 'manual' && status !== 'invited' ? (['useMappings'] as const) : []),
  ...(status === 'active' ? (['suspend'] as const) : []),
  ...(status === 'suspended' ? (['activate'] as const) : []),
  ...(identity ? (['unbind'] as const) : []),
  'remove',
];

export const UsersPage = () => {
  const mayUpdate = permissionReason(usePermission('updateUser'));
  const mayDelete = permissionReason(usePermission('deleteUser'));
  const [inviting, setInviting] = useState(false);
  const [changing, setChanging] = useState<{ user: User; change: UserChange } | null>(null);
  const entry = (user: User, change: UserChange): MenuEntry => ({
    label: words[change],
    danger: change === 'remove',
    onSelect: () => setChanging({ user, change }),
    disabledReason: change === 'remove' ? mayDelete : mayUpdate,
  });
  return (
    <ListPage
      title={pages.users}
      words={words}
      operation="listUsers"
      filters={[
        { name: 'role', label: words.role, options: optionsOf(words.roles) },
        { name: 'status', label: words.status, options: optionsOf(words.statuses) },
      ]}
      columns={columns}
      name={({ name }) => name}
      menu={(user) => changesOf(user).map((change) => entry(user, change))}
      actions={<ButtonLink href={to('/role-mappings')}>{words.mappings}</ButtonLink>}
      create={{ label: words.invite, operation: 'inviteUser', onClick: () => setInviting(true) }}
      example={['inviteUser', { email: 'ada@example.com', role: 'builder' }]}
    >
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {changing && <UserDialog {...changing} onClose={() => setChanging(null)} />}
    </ListPage>
  );
};
