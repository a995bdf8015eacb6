import { useBaseUrl, useOperation } from '../../../api/index.ts';
import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { scheduleForm as form } from '../../../text/en/schedule-form.ts';
import { Time } from '../../../time/index.ts';
import { Box, CodeBlock, curlOf, Facts, JsonView, Link, Loaded, Muted, Section } from '../../../ui/index.ts';
import { scheduleHref } from '../shared/address.ts';
import { paramsOf } from '../shared/use-actions.ts';
import css from './detail.module.css';

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
            <Link key="changed" href={scheduleHref(agent.id, schedule.id, { tab: 'history' })} keepScroll>
              <Time at={schedule.updated_at} form="relative" />
            </Link>,
          ],
        ]}
      />
    </Box>
  );
};

export const DefinitionTab = ({ schedule }: { schedule: ScheduleDetail }) => {
  const baseUrl = useBaseUrl();
  const { message, payload, id } = schedule;
  // The schedule as every client gets it.
  const stored = useOperation('getSchedule', paramsOf(schedule));
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
          <Loaded got={stored} operation="getSchedule">
            {(value) => <JsonView value={value} label={words.raw} fileName={`${id}.json`} />}
          </Loaded>
        </Box>
      </Section>
      <Section title={words.curl}>
        <CodeBlock label={words.curl} code={curlOf(baseUrl, 'getSchedule', paramsOf(schedule))} />
      </Section>
    </>
  );
};
