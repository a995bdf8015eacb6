import { useState } from 'react';
import { useBaseUrl, usePermission } from '../../api/index.ts';
import type { RoleMapping } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { people as words } from '../../text/en/people.ts';
import {
  Box,
  Button,
  type Column,
  Columns,
  curlOf,
  EmptyState,
  Loaded,
  Page,
  permissionReason,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { useAllMappings } from './all-mappings.ts';
import { ClaimsPreview } from './ClaimsPreview.tsx';
import { DeleteMappingDialog, MappingDialog } from './MappingDialog.tsx';

const ranks = { member: 0, builder: 1, admin: 2 };

/** In the order in which they decide. */
const byDecision = (one: RoleMapping, other: RoleMapping): number =>
  other.priority - one.priority || ranks[other.role] - ranks[one.role];

const columns: readonly Column<RoleMapping>[] = [
  {
    key: 'rule',
    title: words.mapping,
    width: '58%',
    cell: ({ claim, value }) => <TwoLines below={claim}>{value}</TwoLines>,
  },
  { key: 'role', title: words.role, cell: ({ role }) => words.roleOf(role) },
  { key: 'priority', title: words.priority, numeric: true, phone: 'hide', cell: ({ priority }) => priority },
];

/** Limit of the API. */
const most = 500;

/** The mappings from claims to roles, and what they would give. */
export const RoleMappingsPage = () => {
  const got = useAllMappings();
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createRoleMapping'));
  const mayUpdate = permissionReason(usePermission('updateRoleMapping'));
  const mayDelete = permissionReason(usePermission('deleteRoleMapping'));
  const [editing, setEditing] = useState<RoleMapping | 'new' | null>(null);
  const [deleting, setDeleting] = useState<RoleMapping | null>(null);
  const create = (
    <Button kind="primary" disabledReason={mayCreate} onClick={() => setEditing('new')}>
      {words.newMapping}
    </Button>
  );
  const all = got.data ?? [];
  return (
    <Page
      title={pages.roleMappings}
      crumbs={[{ label: pages.users, href: to('/users') }]}
      lead={words.mappingsLead}
      actions={all.length > 0 && all.length < most && create}
    >
      <Columns side={<ClaimsPreview />}>
        <Loaded got={got} operation="listRoleMappings">
          {(data) => (
            <Box>
              {data.length > 0 ? (
                <Table
                  label={pages.roleMappings}
                  rows={data.toSorted(byDecision)}
                  columns={columns}
                  rowKey={({ id }) => id}
                  name={({ claim, value }) => words.rule(claim, value)}
                  actions={(mapping) => [
                    {
                      label: common.edit,
                      onSelect: () => setEditing(mapping),
                      disabledReason: mayUpdate,
                    },
                    {
                      label: words.deleteMapping,
                      danger: true,
                      onSelect: () => setDeleting(mapping),
                      disabledReason: mayDelete,
                    },
                  ]}
                />
              ) : (
                <EmptyState
                  sentence={words.noMappings}
                  action={create}
                  curl={curlOf(
                    base,
                    'createRoleMapping',
                    {},
                    {
                      body: { claim: 'groups', value: 'platform-builders', role: 'builder' },
                    },
                  )}
                />
              )}
            </Box>
          )}
        </Loaded>
      </Columns>
      {editing && (
        <MappingDialog
          mapping={editing === 'new' ? null : editing}
          all={all}
          onClose={() => setEditing(null)}
        />
      )}
      {deleting && <DeleteMappingDialog mapping={deleting} all={all} onClose={() => setDeleting(null)} />}
    </Page>
  );
};
