import type { AgentSummary } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, TwoLines, Words } from '../../ui/index.ts';

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** The number of open Work Items. */
export const openOf = ({ open }: Pick<AgentSummary, 'open'>): number => sum(open);

const modelOf = ({ llm }: AgentSummary): string =>
  llm ? (llm.is_default ? `${llm.model} (${words.defaultModel})` : llm.model) : '';

export const columns: readonly Column<AgentSummary>[] = [
  {
    key: 'name',
    title: words.agent,
    width: '36%',
    cell: (agent) => (
      <TwoLines below={[words.modes[agent.mode], modelOf(agent)].filter(Boolean).join('\u00a0· ')}>
        {agent.name}
      </TwoLines>
    ),
  },
  {
    key: 'open',
    title: words.open,
    titled: true,
    cell: (agent) => (
      <TwoLines below={words.openOf(agent.open.NEEDS_REVIEW + agent.open.INDETERMINATE)}>
        {number(openOf(agent))}
      </TwoLines>
    ),
  },
  {
    key: 'ended',
    title: words.last24,
    phone: 'below',
    cell: ({ done_24h, failed_24h }) => (
      <TwoLines below={failed_24h > 0 ? words.failed(failed_24h) : undefined}>
        {words.done(done_24h)}
      </TwoLines>
    ),
  },
  {
    key: 'schedules',
    title: words.schedules,
    phone: 'hide',
    cell: ({ schedules: { total, enabled, next_run_at } }) =>
      total === 0 ? (
        <Muted>{words.noSchedules}</Muted>
      ) : (
        <TwoLines
          below={
            next_run_at ? (
              <Words text={words.nextRun} at={<Time at={next_run_at} form="relative" />} />
            ) : (
              words.paused(total - enabled)
            )
          }
        >
          {number(total)}
        </TwoLines>
      ),
  },
];
