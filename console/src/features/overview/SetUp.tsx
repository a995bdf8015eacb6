import type { Overview } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { overview as words } from '../../text/en/overview.ts';
import { Box, Link, Section } from '../../ui/index.ts';
import css from './SetUp.module.css';

/** What is set up, from the data themselves. */
export type SetUpState = Overview['setup'];

const steps = [
  { key: 'agent', title: words.stepAgent, note: words.stepAgentNote, href: to.newAgent() },
  { key: 'first_run', title: words.stepRun, note: words.stepRunNote, href: to.newWorkItem() },
  { key: 'schedule', title: words.stepSchedule, note: words.stepScheduleNote, href: to.newSchedule() },
  {
    key: 'tracing_backend',
    title: words.stepBackend,
    note: words.stepBackendNote,
    href: to.newIntegration(),
  },
  { key: 'real_model', title: words.stepModel, note: words.stepModelNote, href: to.newLlmConfiguration() },
  { key: 'team_key', title: words.stepKey, note: words.stepKeyNote, href: to.apiKeys({ new: '1' }) },
] as const;

/** Whether a step is left. */
export const isOpen = (state: SetUpState): boolean => steps.some(({ key }) => !state[key]);

/** What is left to set up. It goes when all is done. */
export const SetUp = ({ state }: { state: SetUpState }) => {
  const done = steps.filter(({ key }) => state[key]).length;
  return (
    <Section title={words.setUp} note={words.setUpCount(done, steps.length)}>
      <Box>
        <ul className={css.steps}>
          {steps.map(({ key, title, note, href }) => (
            <li key={key} data-done={state[key] || undefined}>
              <span className={css.mark} aria-hidden="true" />
              <div>
                <b>{title}</b>
                <span>{state[key] ? words.done : note}</span>
              </div>
              {!state[key] && (
                <Link href={href} aria-label={`${words.open}: ${title}`}>
                  {words.open}
                </Link>
              )}
            </li>
          ))}
        </ul>
      </Box>
    </Section>
  );
};
