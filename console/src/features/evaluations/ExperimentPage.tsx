import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { perform, useAction, useOperation } from '../../api/index.ts';
import type { NamedExperiment } from '../../api/types.gen.ts';
import { DeleteButton, DetailPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  ActionDialog,
  Button,
  ButtonLink,
  Muted,
  notify,
  Select,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import { CaseGrid } from './CaseGrid.tsx';
import { experimentName } from './ExperimentsList.tsx';
import css from './evaluations.module.css';
import { ExperimentTag, endedOf, isOpen, TrialTag } from './marks.tsx';
import { ExperimentScores } from './Scores.tsx';

/** The graders that people can label. Those of cases show only in the scores. */
export const labelGraders = ({ graders, scores }: Pick<NamedExperiment, 'graders' | 'scores'>): string[] => [
  ...new Set([
    ...scores.filter(({ unlabelled }) => unlabelled > 0).map(({ grader }) => grader),
    ...graders.filter(({ type }) => type === 'human' || type === 'llm_judge').map(({ name }) => name),
  ]),
];

const Lead = ({ experiment }: { experiment: NamedExperiment }) => {
  const { score, pass_rate, created_at, duration_ms, usage, tools, model } = experiment;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <>
      <ExperimentTag state={experiment.state} />{' '}
      {score !== null && pass_rate !== null ? words.scoreLead(score, pass_rate) : words.noScores}{' '}
      <Muted>
        <Words text={words.started} at={<Time at={created_at} form="relative" />} />{' '}
        {words.how(words.toolModes[tools], words.modelModes[model])}{' '}
        {duration_ms && words.took(duration_ms.p50, duration_ms.p95)} {tokens > 0 && words.tokens(tokens)}{' '}
        {experiment.publication_id && words.ofGate}
      </Muted>
    </>
  );
};

const outcomes = ['completed', 'failed', 'diverged', 'error', 'cancelled'] as const;

const Progress = ({ experiment }: { experiment: NamedExperiment }) => {
  const { trials } = experiment;
  const ended = endedOf(experiment);
  const text = words.progress(ended, trials.total);
  return (
    <div className={css.progress}>
      <div
        role="progressbar"
        aria-label={words.trialsBar}
        aria-valuemin={0}
        aria-valuemax={trials.total}
        aria-valuenow={ended}
        aria-valuetext={text}
      >
        <span style={{ width: `${trials.total === 0 ? 0 : (ended / trials.total) * 100}%` }} />
      </div>
      <div className={css.counts}>
        <span>{text}</span>
        {outcomes.map(
          (outcome) =>
            trials[outcome] > 0 && (
              <span key={outcome}>
                <TrialTag mark={outcome} /> {trials[outcome]}
              </span>
            ),
        )}
      </div>
    </div>
  );
};

const CompareDialog = ({ experiment, onClose }: { experiment: NamedExperiment; onClose: () => void }) => {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string | null>(null);
  const got = useOperation(
    'listNamedExperiments',
    {},
    { query: { dataset_id: experiment.dataset.id, limit: 100 } },
  );
  const others = (got.data?.data ?? []).filter(({ id }) => id !== experiment.id);
  const other =
    chosen ?? others.find(({ agent }) => agent.id === experiment.agent.id)?.id ?? others[0]?.id ?? null;
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.compare}
      onConfirm={() =>
        void navigate({ href: to('/evaluations/compare', {}, { a: other ?? '', b: experiment.id }) })
      }
      disabledReason={other === null ? words.nothingToCompare : null}
    >
      <p>{got.data && others.length === 0 ? words.nothingToCompare : words.compareText}</p>
      <Select
        label={words.compareWith}
        value={other}
        onChange={setChosen}
        nothing={got.data ? undefined : common.loading}
        options={others.map((one) => ({
          value: one.id,
          label: words.agentVersion(one.agent.name, one.version),
          note: one.score === null ? words.noScore : words.points(one.score),
        }))}
      />
    </ActionDialog>
  );
};

const CancelDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const act = useAction(async () => {
    await perform('cancelExperiment', { experiment_id: id });
    notify(words.cancelled);
    onClose();
  });
  return (
    <ActionDialog open onClose={onClose} title={words.cancelExperiment} kind="danger" act={act}>
      <p>{words.cancelText}</p>
    </ActionDialog>
  );
};

const Actions = ({ experiment }: { experiment: NamedExperiment }) => {
  const { id, dataset } = experiment;
  const [open, setOpen] = useState<'compare' | 'cancel' | null>(null);
  const close = () => setOpen(null);
  const mayDelete = useDisabledReason('deleteExperiment');
  const mayCancel = useDisabledReason('cancelExperiment');
  const mayLabel = useDisabledReason('labelTrial');
  const running = isOpen(experiment);
  const graders = labelGraders(experiment);
  const grader = experiment.scores.find(({ unlabelled }) => unlabelled > 0)?.grader ?? graders[0];
  return (
    <>
      <DeleteButton
        operation="deleteExperiment"
        params={{ experiment_id: id }}
        title={words.deleteExperiment}
        name={experimentName(experiment)}
        deleted={words.deleted}
        opens={to('/evaluations/datasets/$datasetId', { datasetId: dataset.id }, { tab: 'experiments' })}
        disabledReason={mayDelete ?? (running ? words.running : null)}
      >
        <p>{words.deleteText}</p>
      </DeleteButton>
      {running && (
        <Button kind="danger" disabledReason={mayCancel} onClick={() => setOpen('cancel')}>
          {words.cancelExperiment}
        </Button>
      )}
      <ButtonLink
        href={to('/evaluations/label', {}, { experiment: id, grader })}
        disabledReason={mayLabel ?? (grader === undefined ? words.labelNone : null)}
      >
        {words.label}
      </ButtonLink>
      <Button kind="primary" onClick={() => setOpen('compare')}>
        {words.compare}
      </Button>
      {open === 'compare' && <CompareDialog experiment={experiment} onClose={close} />}
      {open === 'cancel' && <CancelDialog id={id} onClose={close} />}
    </>
  );
};

export const ExperimentPage = () => {
  const { experimentId } = useParams({ from: '/shell/evaluations/experiments/$experimentId' });
  const params = { experiment_id: experimentId };
  const got = useOperation('getNamedExperiment', params);
  // The same data: it only makes them be read again while trials run.
  useOperation('getNamedExperiment', params, {
    every: 1_500,
    enabled: got.data !== undefined && isOpen(got.data),
  });
  return (
    <DetailPage
      got={got}
      operation="getNamedExperiment"
      kind={words.experiment}
      name={experimentName}
      list={
        got.data
          ? {
              label: got.data.dataset.name,
              href: to(
                '/evaluations/datasets/$datasetId',
                { datasetId: got.data.dataset.id },
                { tab: 'experiments' },
              ),
            }
          : { label: pages.evaluations, href: to('/evaluations', {}, { tab: 'experiments' }) }
      }
      id={experimentId}
      lead={(experiment) => <Lead experiment={experiment} />}
      actions={(experiment) => <Actions experiment={experiment} />}
    >
      {(experiment) => (
        <>
          <Progress experiment={experiment} />
          <ExperimentScores experiment={experiment} />
          <CaseGrid experiment={experiment} />
        </>
      )}
    </DetailPage>
  );
};
