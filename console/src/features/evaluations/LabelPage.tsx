import { useState } from 'react';
import {
  type LoadState,
  perform,
  readEarly,
  readOf,
  useAction,
  useOperation,
  useUnsaved,
} from '../../api/index.ts';
import type { LabelQueue, NamedExperiment, TrialDetail } from '../../api/types.gen.ts';
import { Messages } from '../../messages/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  Callout,
  EmptyState,
  Loaded,
  Muted,
  Page,
  Problem,
  Section,
  Select,
  TextField,
  useDisabledReason,
  useKeys,
} from '../../ui/index.ts';
import { labelGraders } from './ExperimentPage.tsx';
import { experimentHref, experimentName } from './ExperimentsList.tsx';
import css from './evaluations.module.css';
import { isOpen } from './marks.tsx';
import type { labelSearch } from './search.ts';
import { OutputAndExpected } from './TrialPage.tsx';
import { toShown } from './transcript.ts';

type Verdict = 'pass' | 'fail';

/** A trial of the queue that is done. `verdict` is null if the trial was skipped. */
interface Done {
  trialId: string;
  name: string;
  verdict: Verdict | null;
  judge: TrialDetail['scores'][number] | null;
}

/** The person's label of the last trial. The judge's label is shown only now. */
const Last = ({ done: { name, verdict, judge } }: { done: Done }) => (
  <p role="status">
    <Muted>
      {verdict === null ? words.skipped(name) : words.youSaid(name, words.labels[verdict])}{' '}
      {verdict !== null && judge?.label && (
        <>
          {words.judgeSaid(words.labels[judge.label])} {judge.explanation}
        </>
      )}
    </Muted>
  </p>
);

const Asked = ({ trial, grader }: { trial: TrialDetail; grader: string }) => {
  const of = trial.graders.find(({ name }) => name === grader);
  const text = of?.type === 'human' ? of.question : of?.type === 'llm_judge' ? of.rubric : grader;
  return (
    <Section title={of?.type === 'llm_judge' ? words.rubric : words.question}>
      <p className={css.question}>{text}</p>
    </Section>
  );
};

const Shown = ({ trial, grader }: { trial: TrialDetail; grader: string }) => (
  <>
    <Asked trial={trial} grader={grader} />
    <OutputAndExpected trial={trial} />
    <Section title={words.conversation} note={words.trialTitle(trial.case_name, trial.repetition)}>
      <Box>
        <Messages label={words.conversation} messages={toShown(trial.messages, 'trial')} />
      </Box>
    </Section>
  </>
);

/** Asks about one trial after the other. The queue is the one that was there when the page was opened. */
const Asking = ({
  experimentId,
  grader,
  queue,
}: {
  experimentId: string;
  grader: string;
  queue: LabelQueue;
}) => {
  const [ids] = useState(queue.trial_ids);
  const [before] = useState(queue.labelled);
  const [done, setDone] = useState<readonly Done[]>([]);
  const [comment, setComment] = useState('');
  const mayLabel = useDisabledReason('labelTrial');
  const mayUndo = useDisabledReason('removeLabel');
  const trialId = ids[done.length];
  const paramsOf = (id: string) => ({ experiment_id: experimentId, trial_id: id });
  const got = useOperation('getTrialDetail', trialId === undefined ? null : paramsOf(trialId), {
    onFocus: false,
  });
  const last = done.at(-1);
  useUnsaved(() => comment.trim() !== '');
  const decide = useAction(async (verdict: Verdict | null) => {
    const trial = got.data;
    if (!trial || trial.id !== trialId) return;
    const next = ids[done.length + 1];
    if (next !== undefined) readEarly(readOf('getTrialDetail', paramsOf(next)));
    if (verdict !== null) {
      const body = { grader, verdict, ...(comment.trim() !== '' && { comment: comment.trim() }) };
      await perform('labelTrial', paramsOf(trial.id), { body });
    }
    const judge = trial.scores.find((score) => score.grader === grader && score.type === 'llm_judge') ?? null;
    setComment('');
    setDone([
      ...done,
      { trialId: trial.id, name: words.trialTitle(trial.case_name, trial.repetition), verdict, judge },
    ]);
  });
  const undo = useAction(async () => {
    if (!last) return;
    if (last.verdict !== null) await perform('removeLabel', { ...paramsOf(last.trialId), grader });
    setDone(done.slice(0, -1));
  });
  const busy = decide.busy || undo.busy;
  const ended = trialId === undefined;
  useKeys({
    p: () => !ended && !mayLabel && void decide.run('pass'),
    f: () => !ended && !mayLabel && void decide.run('fail'),
    s: () => !ended && void decide.run(null),
    u: () => !mayUndo && void undo.run(),
  });
  const skipped = done.filter(({ verdict }) => verdict === null).length;
  const error = decide.error ?? undo.error;
  const notNow = ended ? words.allLabelled : null;
  return (
    <>
      {ended ? (
        <Box>
          <EmptyState
            sentence={skipped > 0 ? words.skippedLeft(skipped) : words.allLabelled}
            action={<ButtonLink href={experimentHref(experimentId)}>{words.backToExperiment}</ButtonLink>}
          />
        </Box>
      ) : (
        <Loaded got={got} operation="getTrialDetail">
          {(trial) => <Shown trial={trial} grader={grader} />}
        </Loaded>
      )}
      <div className={css.decide}>
        {error && <Problem error={error} />}
        {last && <Last done={last} />}
        {!ended && (
          <TextField label={words.comment} hint={words.commentHint} value={comment} onChange={setComment} />
        )}
        <Bar>
          {!ended && (
            <>
              <Button
                kind="primary"
                busy={busy}
                disabledReason={mayLabel ?? notNow}
                aria-keyshortcuts="p"
                onClick={() => void decide.run('pass')}
              >
                {words.pass}
              </Button>
              <Button
                busy={busy}
                disabledReason={mayLabel ?? notNow}
                aria-keyshortcuts="f"
                onClick={() => void decide.run('fail')}
              >
                {words.fail}
              </Button>
              <Button
                busy={busy}
                disabledReason={notNow}
                aria-keyshortcuts="s"
                onClick={() => void decide.run(null)}
              >
                {words.skip}
              </Button>
            </>
          )}
          <Button
            kind="quiet"
            busy={busy}
            disabledReason={mayUndo ?? (last ? null : words.nothingToUndo)}
            aria-keyshortcuts="u"
            onClick={() => void undo.run()}
          >
            {words.undo}
          </Button>
          <Muted small>{words.ofCount(Math.min(before + done.length + 1, queue.total), queue.total)}</Muted>
        </Bar>
      </div>
    </>
  );
};

const Choose = ({ experiment, grader }: { experiment: NamedExperiment; grader: string | undefined }) => {
  const { set } = useUrlState<ReturnType<typeof labelSearch>>();
  const graders = labelGraders(experiment);
  if (graders.length < 2 && grader !== undefined) return null;
  return (
    <div className={css.choose}>
      <Select
        label={words.grader}
        value={grader ?? null}
        options={graders.map((name) => ({ value: name, label: name }))}
        onChange={(chosen) => set({ grader: chosen ?? undefined })}
      />
    </div>
  );
};

/** Asks people about the trials of a grader. */
export const LabelPage = () => {
  const { search } = useUrlState<ReturnType<typeof labelSearch>>();
  const { experiment: id, grader } = search;
  const params = id === undefined ? null : { experiment_id: id };
  const experiment: LoadState<NamedExperiment> = useOperation('getNamedExperiment', params, {
    onFocus: false,
  });
  const queue = useOperation('getLabelQueue', grader === undefined ? null : params, {
    query: { grader: grader ?? '' },
    onFocus: false,
  });
  const { data } = experiment;
  const list = { label: pages.evaluations, href: to('/evaluations', {}, { tab: 'experiments' }) };
  return (
    <Page
      title={words.labelTitle}
      crumbs={[data ? { label: experimentName(data), href: experimentHref(data.id) } : list]}
      lead={words.keys}
    >
      {params === null || (grader === undefined && data && labelGraders(data).length === 0) ? (
        <Box>
          <EmptyState
            sentence={params === null ? words.noLabelGrader : words.labelNone}
            action={<ButtonLink href={list.href}>{words.tabs.experiments}</ButtonLink>}
          />
        </Box>
      ) : (
        <Loaded got={experiment} operation="getNamedExperiment" list={list}>
          {(loaded) => (
            <>
              <Choose experiment={loaded} grader={grader} />
              {grader !== undefined && (
                <Loaded got={queue} operation="getLabelQueue">
                  {(found) =>
                    found.total === 0 ? (
                      <Callout>{isOpen(loaded) ? words.labelFirst : words.labelNone}</Callout>
                    ) : (
                      <Asking
                        key={`${id} ${grader}`}
                        experimentId={loaded.id}
                        grader={grader}
                        queue={found}
                      />
                    )
                  }
                </Loaded>
              )}
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
};
