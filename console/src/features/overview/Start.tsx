import { useNavigate } from '@tanstack/react-router';
import {
  call,
  refreshAfter,
  useAction,
  useBaseUrl,
  useIdempotencyKey,
  usePermission,
} from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  CodeBlock,
  curlOf,
  Problem,
  Section,
  useDisabledReason,
} from '../../ui/index.ts';
import css from './Start.module.css';

const boxes = [
  [words.boxSchedule, words.boxScheduleNote],
  [words.boxItem, words.boxItemNote],
  [words.boxTrace, words.boxTraceNote],
] as const;

/** Makes the example agent with its schedule, runs it, and opens its Work Item. */
const useExample = (mayReadLlms: boolean) => {
  const navigate = useNavigate();
  // One for each step: a second attempt goes on where the first one failed, and makes nothing twice.
  const [agentKey, scheduleKey, runKey] = [useIdempotencyKey(), useIdempotencyKey(), useIdempotencyKey()];
  return useAction(async () => {
    const { name, description, instructions, workItem, message } = words.example;
    const llms = mayReadLlms
      ? (await call('listLlmConfigurations', {}, { query: { limit: 100 } })).body.data
      : [];
    // Never a model that costs something. A role that may not see the configurations gets the default.
    const llm_id = llms.find(({ kind }) => kind === 'mock')?.id ?? null;
    const first = { name, description, instructions, mode: 'worker' as const, llm_id };
    const { body: agent } = await call('createAgent', {}, { body: first, idempotencyKey: agentKey(first) });
    const agent_id = agent.id;
    const { body: schedule } = await call(
      'createSchedule',
      { agent_id },
      {
        body: { cron_expression: '*/5 * * * *', timezone: 'UTC', work_item_name: workItem, message },
        idempotencyKey: scheduleKey(agent_id),
      },
    );
    const run = { agent_id, schedule_id: schedule.id };
    const { body: item } = await call('runSchedule', run, { idempotencyKey: runKey(schedule.id) });
    await navigate({ href: to('/work-items/$workItemId', { workItemId: item.id }) });
    await refreshAfter('runSchedule');
  });
};

/** The offer of an empty installation: one click to a first completed Work Item. */
export const Start = () => {
  const base = useBaseUrl();
  const mayCreate = useDisabledReason('createAgent');
  const example = useExample(usePermission('listLlmConfigurations').allowed);
  return (
    <>
      <Box padded>
        <div className={css.offer}>
          <h2>{words.tryTitle}</h2>
          <p>{words.tryText}</p>
          <ol className={css.chain}>
            {boxes.map(([title, note]) => (
              <li key={title}>
                <b>{title}</b>
                <span>{note}</span>
              </li>
            ))}
          </ol>
          {example.error && <Problem error={example.error} />}
          <Bar>
            <Button
              kind="primary"
              busy={example.busy}
              disabledReason={mayCreate}
              onClick={() => void example.run()}
            >
              {words.tryIt}
            </Button>
            <ButtonLink href={to('/agents/new')} disabledReason={mayCreate}>
              {words.newAgent}
            </ButtonLink>
          </Bar>
        </div>
      </Box>
      <Section title={words.terminal}>
        <CodeBlock
          label={words.terminal}
          code={curlOf(base, 'createAgent', {}, { body: { name: 'Reporter', mode: 'worker' } })}
        />
      </Section>
    </>
  );
};
