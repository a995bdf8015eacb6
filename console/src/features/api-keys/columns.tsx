import type { NamedApiKey } from '../../api/types.gen.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, Tag, TwoLines } from '../../ui/index.ts';

const kinds = { active: 'on-time', paused: 'late', expired: 'skipped' } as const;

export const columns: readonly Column<NamedApiKey>[] = [
  {
    key: 'name',
    title: words.key,
    width: '30%',
    cell: ({ name, prefix, kind, owner }) => (
      <TwoLines
        below={
          <>
            <code>{`${prefix}…`}</code>
            {`\u00a0· ${words.kindOf(words.kinds[kind], owner.name ?? words.ofWorkspace)}`}
          </>
        }
      >
        {name}
      </TwoLines>
    ),
  },
  {
    key: 'role',
    title: words.role,
    phone: 'below',
    cell: ({ role, scopes }) => (
      <TwoLines below={scopes ? words.limited(scopes.length) : undefined}>
        {role ? words.roles[role] : words.noRole}
      </TwoLines>
    ),
  },
  {
    key: 'status',
    title: words.status,
    width: '110px',
    cell: ({ status, replaced_by }) => (
      <TwoLines below={replaced_by ? words.replaced : undefined}>
        <Tag kind={kinds[status]}>{words.statuses[status]}</Tag>
      </TwoLines>
    ),
  },
  {
    key: 'used',
    title: words.lastUsed,
    phone: 'hide',
    cell: ({ last_used_at, last_used_ip }) =>
      last_used_at ? (
        <TwoLines below={last_used_ip ? words.from(last_used_ip) : undefined}>
          <Time at={last_used_at} form="relative" />
        </TwoLines>
      ) : (
        <Muted>{words.never}</Muted>
      ),
  },
  {
    key: 'expires',
    title: words.expires,
    phone: 'hide',
    cell: ({ expires_at }) =>
      expires_at ? <Time at={expires_at} form="both" /> : <Muted>{words.neverExpires}</Muted>,
  },
  {
    key: 'created',
    title: words.created,
    phone: 'hide',
    cell: ({ created_at, created_by_name }) => (
      <TwoLines below={words.createdBy(created_by_name ?? words.someoneGone)}>
        <Time at={created_at} form="both" />
      </TwoLines>
    ),
  },
];
