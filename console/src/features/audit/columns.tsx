import { Fragment } from 'react';
import type { AuditEntry } from '../../api/types.gen.ts';
import { hrefOfThing } from '../../resource/thing.ts';
import { audit as words } from '../../text/en/audit.ts';
import { Time } from '../../time/index.ts';
import { type Column, JsonView, Link, Muted, Tag, TwoLines } from '../../ui/index.ts';

const Target = ({ entry }: { entry: AuditEntry }) => {
  const { target_type, target_id, target } = entry;
  const page = target && target_id && (target_type !== 'schedule' || target.agent_id);
  const href = page ? hrefOfThing(target_type, target_id, target.agent_id) : null;
  const name = target?.name ?? target_id;
  return <TwoLines below={target_type}>{name && (href ? <Link href={href}>{name}</Link> : name)}</TwoLines>;
};

/** A name in parts, which breaks between its words and not in one. */
const Breakable = ({ text }: { text: string }) =>
  text.split(/(?<=[._])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay where they are.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));

const hasReason = (details: unknown): boolean =>
  typeof details === 'object' && details !== null && 'reason' in details;

export const columns: readonly Column<AuditEntry>[] = [
  { key: 'at', title: words.at, width: '150px', cell: ({ at }) => <Time at={at} form="both" /> },
  {
    key: 'who',
    title: words.who,
    width: '19%',
    phone: 'below',
    cell: ({ principal, context }) => (
      <TwoLines
        below={
          context && [words.via[context.via], context.ip && words.from(context.ip)].filter(Boolean).join(' ')
        }
      >
        {principal.name}
      </TwoLines>
    ),
  },
  {
    key: 'action',
    title: words.action,
    width: '19%',
    cell: ({ action, outcome }) => (
      <TwoLines below={outcome === 'refused' ? <Tag kind="late">{words.outcomes.refused}</Tag> : undefined}>
        <code>
          <Breakable text={action} />
        </code>
      </TwoLines>
    ),
  },
  { key: 'target', title: words.target, phone: 'hide', cell: (entry) => <Target entry={entry} /> },
  {
    key: 'details',
    title: words.details,
    width: '18%',
    phone: 'below',
    cell: ({ details, position }) => (
      <details>
        <summary>
          <Muted small>{hasReason(details) ? words.showWithReason : words.show}</Muted>
        </summary>
        <Muted small>{words.position(position)}</Muted>
        <JsonView value={details} label={words.details} />
      </details>
    ),
  },
];
