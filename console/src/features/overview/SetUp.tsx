import type { Overview } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import { Box, ButtonLink, Section, useDisabledReason } from '../../ui/index.ts';
import css from './SetUp.module.css';

export type SetUpState = Overview['setup'];

const steps = [
  {
    key: 'agent',
    title: words.stepAgent,
    note: words.stepAgentNote,
    href: to('/agents/new'),
    operation: 'createAgent',
  },
  {
    key: 'first_run',
    title: words.stepRun,
    note: words.stepRunNote,
    href: to('/work-items/new'),
    operation: 'createWorkItem',
  },
  {
    key: 'schedule',
    title: words.stepSchedule,
    note: words.stepScheduleNote,
    href: to('/schedules/new'),
    operation: 'createSchedule',
  },
  {
    key: 'tracing_backend',
    title: words.stepBackend,
    note: words.stepBackendNote,
    href: to('/integrations/new'),
    operation: 'createObservabilityIntegration',
  },
  {
    key: 'real_model',
    title: words.stepModel,
    note: words.stepModelNote,
    href: to('/llm-configurations/new'),
    operation: 'createLlmConfiguration',
  },
  {
    key: 'team_key',
    title: words.stepKey,
    note: words.stepKeyNote,
    href: to('/api-keys', {}, { new: '1' }),
    operation: 'createApiKey',
  },
] as const;

export const isOpen = (state: SetUpState): boolean => steps.some(({ key }) => !state[key]);

const Step = ({ step, done }: { step: (typeof steps)[number]; done: boolean }) => {
  const { title, note, href, operation } = step;
  const reason = useDisabledReason(operation);
  return (
    <li data-done={done || undefined}>
      <span className={css.mark} aria-hidden="true" />
      <div>
        <b>{title}</b>
        <span>{done ? words.done : note}</span>
      </div>
      {!done && (
        <ButtonLink small kind="quiet" href={href} label={words.openOf(title)} disabledReason={reason}>
          {words.open}
        </ButtonLink>
      )}
    </li>
  );
};

/** The steps that are left. It goes when all is done. */
export const SetUp = ({ state }: { state: SetUpState }) => {
  const done = steps.filter(({ key }) => state[key]).length;
  return (
    <Section title={words.setUp} note={words.setUpCount(done, steps.length)}>
      <Box>
        <div className={css.frame}>
          <ul className={css.steps}>
            {steps.map((step) => (
              <Step key={step.key} step={step} done={state[step.key]} />
            ))}
          </ul>
        </div>
      </Box>
    </Section>
  );
};
