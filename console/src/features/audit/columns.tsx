import { Fragment } from 'react';
import type { AuditEntry } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { audit as words } from '../../text/en/audit.ts';
import { Time } from '../../time/index.ts';
import { type Column, JsonView, Link, Muted, Tag, TwoLines } from '../../ui/index.ts';

/** The page of what an entry is about; null if there is none. */
const addressOf = ({ target_type, target_id, target }: AuditEntry): string | null => {
  if (!target_id || !target) return null;
  switch (target_type) {
    case 'agent':
      return to('/agents/$agentId', { agentId: target_id });
    case 'work_item':
      return to('/work-items/$workItemId', { workItemId: target_id });
    case 'schedule':
      return target.agent_id
        ? to('/agents/$agentId/schedules/$scheduleId', { agentId: target.agent_id, scheduleId: target_id })
        : null;
    case 'conversation':
      return target.agent_id
        ? to('/agents/$agentId/conversations/$conversationId', {
            agentId: target.agent_id,
            conversationId: target_id,
          })
        : null;
    case 'integration':
      return to('/integrations/$integrationId', { integrationId: target_id });
    case 'llm_configuration':
      return to('/llm-configurations/$llmId', { llmId: target_id });
    case 'tool_server':
      return to('/tool-servers/$toolServerId', { toolServerId: target_id });
    case 'data_connection':
      return to('/data-connections/$dataConnectionId', { dataConnectionId: target_id });
    case 'semantic_data_model':
      return to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: target_id });
    case 'extraction':
      return to('/extractions/$extractionId', { extractionId: target_id });
    default:
      return null;
  }
};

const Target = ({ entry }: { entry: AuditEntry }) => {
  const { target_type, target_id, target } = entry;
  const href = addressOf(entry);
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

/** The columns of the audit log. */
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
