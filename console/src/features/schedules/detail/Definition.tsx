import { useBaseUrl } from '../../../api/index.ts';
import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { scheduleForm as form } from '../../../text/en/schedule-form.ts';
import { Time } from '../../../time/index.ts';
import { Box, CodeBlock, curlOf, Facts, JsonView, Link, Muted, Section } from '../../../ui/index.ts';
import css from './detail.module.css';

/** The definition at the side: what it is now, in short. */
export const DefinitionBox = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { agent, cron_expression, description, timezone, catch_up, overlap, message, payload } = schedule;
  const entries = Object.keys(payload).length;
  const shownMessage =
    message === '' ? <Muted third>{words.noMessage}</Muted> : <span className={css.clamped}>{message}</span>;
  return (
    <Box padded title={words.definition}>
      <Facts
        facts={[
          [words.expression, <code key="expression">{cron_expression}</code>],
          [words.inWords, description],
          [words.zone, timezone],
          [words.catchUp, catch_up ? words.catchUpOn : words.catchUpOff],
          [words.overlap, form.whenRunning[overlap]],
          [
            words.agent,
            <Link key="agent" href={to('/agents/$agentId', { agentId: agent.id })}>
              {agent.name}
            </Link>,
          ],
          [words.message, shownMessage],
          entries > 0 && [words.payload, words.entries(entries)],
          [
            words.changed,
            <Link
              key="changed"
              href={to(
                '/agents/$agentId/schedules/$scheduleId',
                { agentId: agent.id, scheduleId: schedule.id },
                { tab: 'history' },
              )}
              keepScroll
            >
              <Time at={schedule.updated_at} form="relative" />
            </Link>,
          ],
        ]}
      />
    </Box>
  );
};

/** The schedule as everybody's client gets it. */
const storedOf = ({
  id,
  agent_id,
  cron_expression,
  timezone,
  enabled,
  catch_up,
  overlap,
  ...more
}: ScheduleDetail) => {
  const { work_item_name, message, payload, metadata, last_run_at, next_run_at, created_at, updated_at } =
    more;
  return {
    id,
    agent_id,
    cron_expression,
    timezone,
    enabled,
    catch_up,
    overlap,
    work_item_name,
    message,
    payload,
    metadata,
    last_run_at,
    next_run_at,
    created_at,
    updated_at,
  };
};

/** Everything, as it is stored. */
export const DefinitionTab = ({ schedule }: { schedule: ScheduleDetail }) => {
  const baseUrl = useBaseUrl();
  const { message, payload, agent_id, id } = schedule;
  return (
    <>
      <Section title={words.message}>
        <Box padded>
          {message === '' ? <Muted third>{words.noMessage}</Muted> : <p className={css.message}>{message}</p>}
        </Box>
      </Section>
      {Object.keys(payload).length > 0 && (
        <Section title={words.payload}>
          <Box padded>
            <JsonView value={payload} label={words.payload} fileName={`${id}-payload.json`} />
          </Box>
        </Section>
      )}
      <Section title={words.raw}>
        <Box padded>
          <JsonView value={storedOf(schedule)} label={words.raw} fileName={`${id}.json`} />
        </Box>
      </Section>
      <Section title={words.curl}>
        <CodeBlock label={words.curl} code={curlOf(baseUrl, 'GET', `/agents/${agent_id}/schedules/${id}`)} />
      </Section>
    </>
  );
};
