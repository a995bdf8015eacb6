import { useNavigate } from '@tanstack/react-router';
import {
  path,
  request,
  useAction,
  useBaseUrl,
  useIdempotencyKey,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type {
  LlmConfigurationPage,
  PublicAgent,
  PublicSchedule,
  PublicWorkItem,
} from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { overview as words } from '../../text/en/overview.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  CodeBlock,
  curlOf,
  Problem,
  permissionReason,
  Section,
} from '../../ui/index.ts';
import css from './Start.module.css';

const boxes = [
  [words.boxSchedule, words.boxScheduleNote],
  [words.boxItem, words.boxItemNote],
  [words.boxTrace, words.boxTraceNote],
] as const;

/** Makes the example agent with its schedule, runs it, and goes to its Work Item. */
const useExample = (mayReadLlms: boolean) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  // One for each step: a second attempt goes on where the first one failed, and makes nothing twice.
  const [agentKey, scheduleKey, runKey] = [useIdempotencyKey(), useIdempotencyKey(), useIdempotencyKey()];
  return useAction(async () => {
    const { name, description, instructions, workItem, message } = words.example;
    const llms = mayReadLlms
      ? (await request<LlmConfigurationPage>('GET', '/api/v2/llm-configurations', { query: { limit: 100 } }))
          .body.data
      : [];
    // Never a model that costs something. A role that may not see the configurations gets the default.
    const llm_id = llms.find(({ kind }) => kind === 'mock')?.id ?? null;
    const first = { name, description, instructions, mode: 'worker', llm_id };
    const { body: agent } = await request<PublicAgent>('POST', '/api/v2/agents', {
      body: first,
      idempotencyKey: agentKey(first),
    });
    const { body: schedule } = await request<PublicSchedule>(
      'POST',
      path`/api/v2/agents/${agent.id}/schedules`,
      {
        body: { cron_expression: '*/5 * * * *', timezone: 'UTC', work_item_name: workItem, message },
        idempotencyKey: scheduleKey(agent.id),
      },
    );
    const { body: item } = await request<PublicWorkItem>(
      'POST',
      path`/app/api/agents/${agent.id}/schedules/${schedule.id}/run`,
      { idempotencyKey: runKey(schedule.id) },
    );
    await navigate({ to: to.workItem(item.id) });
    await invalidate('/app/api/', '/api/v2/');
  });
};

/** What an empty installation shows: one click to a first completed Work Item. */
export const Start = () => {
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createAgent'));
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
            <ButtonLink href={to.newAgent()} disabledReason={mayCreate}>
              {words.newAgent}
            </ButtonLink>
          </Bar>
        </div>
      </Box>
      <Section title={words.terminal}>
        <CodeBlock
          label={words.terminal}
          code={curlOf(base, 'POST', '/agents', { name: 'Reporter', mode: 'worker' })}
        />
      </Section>
    </>
  );
};
