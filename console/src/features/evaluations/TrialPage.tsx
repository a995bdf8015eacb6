import { useParams } from '@tanstack/react-router';
import { useOperation } from '../../api/index.ts';
import type { TrialDetail } from '../../api/types.gen.ts';
import { LongText, prettyJson } from '../../messages/index.ts';
import { valueText } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { Box, ButtonLink, Callout, Loaded, Muted, Page, Section } from '../../ui/index.ts';
import { experimentHref } from './ExperimentsList.tsx';
import css from './evaluations.module.css';
import { TrialScores } from './Scores.tsx';
import { SideBySide } from './SideBySide.tsx';

const Lead = ({ trial }: { trial: TrialDetail }) => {
  const { outcome, steps, duration_ms, unused_calls, reused_from } = trial;
  return (
    <>
      {words.trialLead[outcome ?? 'waiting']}{' '}
      <Muted>
        {steps !== null && duration_ms !== null && words.facts(steps, duration_ms)}{' '}
        {unused_calls !== null && unused_calls > 0 && words.unused(unused_calls)}{' '}
        {reused_from && words.reused}
      </Muted>
    </>
  );
};

/** The output of a trial next to what the case expects. */
export const OutputAndExpected = ({ trial }: { trial: Pick<TrialDetail, 'result' | 'case'> }) => {
  const expected = trial.case?.expected ?? null;
  return (
    <div className={css.pair}>
      <Section title={words.expected}>
        <Box padded>
          {expected === null ? (
            <Muted>{words.nothingExpected}</Muted>
          ) : (
            <LongText
              text={valueText(expected)}
              mono={typeof expected !== 'string'}
              fileName="expected.json"
            />
          )}
        </Box>
      </Section>
      <Section title={words.output}>
        <Box padded>
          {trial.result === null ? (
            <Muted>{words.noOutput}</Muted>
          ) : (
            <LongText
              text={prettyJson(trial.result)}
              mono={typeof trial.result !== 'string'}
              fileName="output.json"
            />
          )}
        </Box>
      </Section>
    </div>
  );
};

const Content = ({ trial }: { trial: TrialDetail }) => (
  <>
    {trial.error && (
      <div className={css.error}>
        <Callout tone="bad" title={trial.error.message}>
          <code>{trial.error.code}</code>
        </Callout>
      </div>
    )}
    <TrialScores trial={trial} />
    <OutputAndExpected trial={trial} />
    <SideBySide
      left={trial.case?.recorded ?? null}
      right={trial.messages.length === 0 ? null : trial.messages}
      names={[words.recorded, words.trial]}
      divergences={trial.divergences}
      none={[trial.case === null ? words.caseGone : words.noRecording, words.noMessages]}
    />
  </>
);

export const TrialPage = () => {
  const { experimentId, trialId } = useParams({
    from: '/shell/evaluations/experiments/$experimentId/trials/$trialId',
  });
  const params = { experiment_id: experimentId, trial_id: trialId };
  const got = useOperation('getTrialDetail', params);
  const { data } = got;
  // The same data: it only makes them be read again until it has ended.
  useOperation('getTrialDetail', params, {
    every: 2_000,
    enabled: data !== undefined && data.outcome === null,
  });
  const list = {
    label: data ? words.title(data.agent.name, data.agent_version, data.dataset.name) : words.experiment,
    href: experimentHref(experimentId),
  };
  return (
    <Page
      title={data ? words.trialTitle(data.case_name, data.repetition) : words.trial}
      titlePrefix={data && words.marks[data.outcome ?? 'waiting']}
      crumbs={[list]}
      lead={data && <Lead trial={data} />}
      actions={
        data?.case?.exists && (
          <ButtonLink
            href={to('/evaluations/datasets/$datasetId/cases/$caseId', {
              datasetId: data.dataset.id,
              caseId: data.case_id,
            })}
          >
            {words.openCase}
          </ButtonLink>
        )
      }
    >
      <Loaded
        got={got}
        operation="getTrialDetail"
        list={list}
        audit={to('/audit', {}, { target_id: trialId })}
      >
        {(trial) => <Content trial={trial} />}
      </Loaded>
    </Page>
  );
};
