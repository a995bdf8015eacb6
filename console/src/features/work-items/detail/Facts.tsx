import { to } from '../../../routing/to.ts';
import { cost } from '../../../text/en/cost.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { Time } from '../../../time/index.ts';
import { Box, CopyValue, Facts, Link, TwoLines } from '../../../ui/index.ts';
import type { WorkItemDetail } from '../types.ts';

/** The time that all its attempts executed, in milliseconds; those that run count until now. */
const executedMs = ({ attempts }: Pick<WorkItemDetail, 'attempts'>, now = Date.now()): number =>
  attempts.reduce(
    (sum, { started_at, ended_at }) =>
      sum + Math.max(0, (ended_at ? Date.parse(ended_at) : now) - Date.parse(started_at)),
    0,
  );

export const WorkItemFacts = ({ item }: { item: WorkItemDetail }) => {
  const {
    status,
    agent,
    agent_version,
    model,
    usage,
    cost_nano_usd,
    unknown_calls,
    attempts,
    created_at,
    start_at,
    finished_at,
    id,
    error,
  } = item;
  const trace = attempts.findLast(({ trace_id }) => trace_id)?.trace_id ?? null;
  const f = words.facts;
  return (
    <Box padded>
      <Facts
        facts={[
          [f.status, status],
          error && [f.error, <code key="error">{error.code}</code>],
          [
            f.agent,
            agent.exists ? (
              <Link key="agent" href={to('/agents/$agentId', { agentId: agent.id })}>
                {agent.name}
              </Link>
            ) : (
              words.deletedAgent
            ),
          ],
          agent_version !== null && [
            f.version,
            <Link
              key="version"
              href={to(
                '/agents/$agentId',
                { agentId: agent.id },
                { tab: 'versions', from: String(agent_version) },
              )}
            >
              {agent_version}
            </Link>,
          ],
          model !== null && [f.model, model],
          usage && [
            f.tokens,
            <TwoLines key="tokens" below={words.calls(usage.model_calls, usage.tool_calls)}>
              {words.tokens(usage.input_tokens, usage.output_tokens)}
            </TwoLines>,
          ],
          (cost_nano_usd > 0 || unknown_calls > 0) && [f.cost, cost.amount(cost_nano_usd, unknown_calls)],
          attempts.length > 0 && [f.executing, words.executed(executedMs(item), attempts.length)],
          [f.created, <Time key="created" at={created_at} form="both" seconds />],
          start_at !== null && [f.start, <Time key="start" at={start_at} form="both" seconds />],
          finished_at !== null && [f.finished, <Time key="finished" at={finished_at} form="both" seconds />],
          [f.id, <CopyValue key="id" value={id} shown={id.slice(0, 18)} mono label={words.copyId} />],
          trace !== null && [
            f.trace,
            <CopyValue key="trace" value={trace} shown={trace.slice(0, 16)} mono label={words.copyTrace} />,
          ],
        ]}
      />
    </Box>
  );
};
