import type { User } from '../../api/types.gen.ts';
import { people as words } from '../../text/en/people.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, Tag, TwoLines } from '../../ui/index.ts';

const kinds = { active: 'on-time', invited: 'due', suspended: 'late' } as const;

export const columns: readonly Column<User>[] = [
  {
    key: 'name',
    title: words.user,
    width: '34%',
    cell: ({ name, email, email_verified }) => (
      <TwoLines
        below={email && (email_verified || email === name ? email : `${email} (${words.unverified})`)}
      >
        {name}
      </TwoLines>
    ),
  },
  {
    key: 'role',
    title: words.role,
    phone: 'below',
    cell: ({ role, role_source }) => (
      <TwoLines below={words.sources[role_source]}>{words.roleOf(role)}</TwoLines>
    ),
  },
  {
    key: 'status',
    title: words.status,
    width: '120px',
    cell: ({ status }) => <Tag kind={kinds[status]}>{words.statuses[status]}</Tag>,
  },
  {
    key: 'sign-in',
    title: words.lastSignIn,
    phone: 'hide',
    cell: ({ last_sign_in_at }) =>
      last_sign_in_at ? <Time at={last_sign_in_at} form="both" /> : <Muted>{words.never}</Muted>,
  },
];
