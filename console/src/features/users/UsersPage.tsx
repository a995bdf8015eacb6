import { useState } from 'react';
import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { User, UserPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { people as words } from '../../text/en/people.ts';
import {
  Box,
  Button,
  ButtonLink,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  Loaded,
  type MenuEntry,
  NothingMatches,
  Page,
  Pager,
  permissionReason,
  Table,
} from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { InviteDialog } from './InviteDialog.tsx';
import type { usersSearch } from './search.ts';
import { type UserChange, UserDialog } from './UserDialog.tsx';

const filters = ['role', 'status'] as const;
const optionsOf = (words: Record<string, string>) =>
  Object.entries(words).map(([value, label]) => ({ value, label }));

/** What can be done with a person. */
const changesOf = ({ role_source, status, identity }: User): UserChange[] => [
  'changeRole',
  ...(role_source === 'manual' && status !== 'invited' ? (['useMappings'] as const) : []),
  ...(status === 'active' ? (['suspend'] as const) : []),
  ...(status === 'suspended' ? (['activate'] as const) : []),
  ...(identity ? (['unbind'] as const) : []),
  'remove',
];

/** The people, and what gives each of them a role. */
export const UsersPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof usersSearch>>();
  const { role, status, next } = search;
  const got = useGet<UserPage>('/api/v2/users', {
    query: { role, status, next },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayInvite = permissionReason(usePermission('inviteUser'));
  const mayUpdate = permissionReason(usePermission('updateUser'));
  const mayDelete = permissionReason(usePermission('deleteUser'));
  const [inviting, setInviting] = useState(false);
  const [changing, setChanging] = useState<{ user: User; change: UserChange } | null>(null);
  const invite = (
    <Button kind="primary" disabledReason={mayInvite} onClick={() => setInviting(true)}>
      {words.invite}
    </Button>
  );
  const entry = (user: User, change: UserChange): MenuEntry => ({
    label: words[change],
    danger: change === 'remove',
    onSelect: () => setChanging({ user, change }),
    disabledReason: change === 'remove' ? mayDelete : mayUpdate,
  });
  const empty = got.data?.data.length === 0 && count(filters) === 0;
  return (
    <Page
      title={pages.users}
      lead={words.lead}
      actions={
        <>
          <ButtonLink href={to.roleMappings()}>{words.mappings}</ButtonLink>
          {!empty && invite}
        </>
      }
    >
      <FilterBar set={count(filters)} onClear={() => clear(filters)}>
        <FilterChoice
          label={words.role}
          value={role ? [role] : []}
          options={optionsOf(words.roles)}
          onChange={([role]) => set({ role })}
        />
        <FilterChoice
          label={words.status}
          value={status ? [status] : []}
          options={optionsOf(words.statuses)}
          onChange={([status]) => set({ status })}
        />
      </FilterBar>
      <Loaded got={got} operation="listUsers">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.users}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                actions={(user) => changesOf(user).map((change) => entry(user, change))}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={invite}
                curl={curlOf(base, 'POST', '/users', { email: 'ada@example.com', role: 'builder' })}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {changing && <UserDialog {...changing} onClose={() => setChanging(null)} />}
    </Page>
  );
};
