import { useNavigate } from '@tanstack/react-router';
import { useOperation } from '../../api/index.ts';
import type { ComparedCase, ExperimentComparison, NamedExperiment } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  Button,
  Callout,
  cx,
  Emphasis,
  EmptyState,
  Link,
  Loaded,
  Muted,
  Page,
  Pager,
  Problem,
  Select,
  Skeleton,
  useKeys,
} from '../../ui/index.ts';
import css from './evaluations.module.css';
import { pointsOf } from './marks.tsx';
import { SideBySide } from './SideBySide.tsx';
import type { compareSearch } from './search.ts';

type Search = ReturnType<typeof compareSearch>;

/** A smaller p counts as no accident. */
const significant = 0.05;

const Sentence = ({ of }: { of: ExperimentComparison }) => {
  const { cases, before, after, drop, p_value, detectable_drop } = of;
  if (before === null || after === null || drop === null) return words.noCommon;
  const worse = drop > 0 && p_value !== null && p_value <= significant;
  return (
    <>
      <Emphasis {...(worse ? { tone: 'missing' as const } : {})}>
        {words.sentence(cases, before, after, drop)}
      </Emphasis>{' '}
      {p_value !== null && (
        <>
          {words.pValue(p_value)}
          {p_value <= significant ? words.notByChance : words.byChance}
        </>
      )}{' '}
      {detectable_drop !== null && (
        <Muted>{detectable_drop < 1 ? words.detectable(detectable_drop) : words.tooFew}</Muted>
      )}
    </>
  );
};

const Drop = ({ before, after }: ComparedCase) => {
  if (before === null || after === null) return <span>{words.unknown}</span>;
  const drop = before - after;
  const tone = drop > 0 ? css.dropped : drop < 0 ? css.risen : undefined;
  return <span className={tone}>{drop === 0 ? words.noChange : words.change(-drop)}</span>;
};

/** The transcripts of the open case: of the first trial of each experiment. */
const OpenCase = ({ a, b, row }: { a: string; b: string; row: ComparedCase }) => {
  const [left, right] = [row.trials.before[0], row.trials.after[0]];
  const before = useOperation(
    'getTrialDetail',
    left === undefined ? null : { experiment_id: a, trial_id: left },
  );
  const after = useOperation(
    'getTrialDetail',
    right === undefined ? null : { experiment_id: b, trial_id: right },
  );
  const error = before.error ?? after.error;
  if (error) return <Problem error={error} />;
  if ((left && !before.data) || (right && !after.data)) return <Skeleton rows={8} height={44} />;
  return (
    <SideBySide
      left={before.data?.messages ?? null}
      right={after.data?.messages ?? null}
      names={[words.before, words.after]}
      divergences={after.data?.divergences}
      none={[words.noTrial, words.noTrial]}
    />
  );
};

const Cases = ({ of, a, b }: { of: ExperimentComparison; a: string; b: string }) => {
  const { search, href } = useUrlState<Search>();
  const navigate = useNavigate();
  const pager = useCursor(of.next);
  const rows = of.data;
  const at = rows.findIndex(({ case_id }) => case_id === search.case);
  const hrefOf = (row: ComparedCase) => href({ case: row.case_id, next: search.next });
  const go = (step: number) => () => {
    const other = rows[at < 0 ? 0 : at + step];
    if (other) void navigate({ href: hrefOf(other), resetScroll: false });
  };
  useKeys({ j: go(1), k: go(-1) });
  const open = rows[at];
  return (
    <div className={css.split} data-open={open !== undefined || undefined}>
      <nav className={css.picks} aria-label={words.byDrop}>
        <ul>
          {rows.map((row) => (
            <li key={row.case_id}>
              <Link
                href={hrefOf(row)}
                keepScroll
                className={cx(css.pick, row === open && css.on)}
                aria-current={row === open || undefined}
              >
                <b>{row.name}</b>
                <span>
                  {words.caseScores(pointsOf(row.before), pointsOf(row.after))} <Drop {...row} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
        <Pager {...pager} />
      </nav>
      <div className={css.open}>
        {open ? (
          <>
            <Link href={href({ case: undefined, next: search.next })} className={css.back}>
              {words.backToCases}
            </Link>
            <h2 className={css.caseName}>{open.name}</h2>
            <OpenCase key={open.case_id} a={a} b={b} row={open} />
          </>
        ) : (
          <Callout>{words.chooseCase}</Callout>
        )}
      </div>
    </div>
  );
};

const nameOf = ({ agent, version }: NamedExperiment) => words.agentVersion(agent.name, version);

/** Two experiments over one dataset: what changed, and the cases that changed most. */
export const ComparePage = () => {
  const { search, set } = useUrlState<Search>();
  const { a, b } = search;
  const first = useOperation('getNamedExperiment', a === undefined ? null : { experiment_id: a });
  const dataset_id = first.data?.dataset.id;
  const all = useOperation(
    'listNamedExperiments',
    {},
    { query: { dataset_id, limit: 100 }, enabled: a === undefined || dataset_id !== undefined },
  );
  const got = useOperation(
    'compareExperiments',
    a === undefined || b === undefined ? null : { experiment_id: a },
    {
      query: { with: b ?? '', next: search.next, limit: 50 },
      keepPrevious: true,
    },
  );
  const listed = all.data?.data ?? [];
  const known = first.data && !listed.some(({ id }) => id === a) ? [first.data, ...listed] : listed;
  const options = known.map((one) => ({
    value: one.id,
    label: nameOf(one),
    note: [dataset_id === undefined ? one.dataset.name : null, pointsOf(one.score)]
      .filter(Boolean)
      .join(' · '),
  }));
  const list = { label: pages.evaluations, href: to('/evaluations', {}, { tab: 'experiments' }) };
  const crumb = first.data ? { label: first.data.dataset.name, href: datasetHref(first.data) } : list;
  const choose = (name: 'a' | 'b', label: string) => (
    <Select
      label={label}
      value={search[name] ?? null}
      onChange={(value) => set({ [name]: value ?? undefined, case: undefined })}
      options={options}
      nothing={all.data ? undefined : common.loading}
    />
  );
  return (
    <Page
      title={words.compareTitle}
      crumbs={[crumb]}
      lead={got.data ? <Sentence of={got.data} /> : words.compareLead}
      actions={
        a !== undefined && b !== undefined ? (
          <Button onClick={() => set({ a: b, b: a })}>{words.swap}</Button>
        ) : undefined
      }
    >
      <div className={css.choose}>
        {choose('a', words.before)}
        {choose('b', words.after)}
      </div>
      {a === undefined || b === undefined ? (
        <Box>
          <EmptyState sentence={words.chooseTwo} />
        </Box>
      ) : (
        <Loaded got={got} operation="compareExperiments" list={list}>
          {(of) =>
            of.data.length === 0 ? <Callout>{words.noCommon}</Callout> : <Cases of={of} a={a} b={b} />
          }
        </Loaded>
      )}
    </Page>
  );
};

const datasetHref = ({ dataset }: NamedExperiment): string =>
  to('/evaluations/datasets/$datasetId', { datasetId: dataset.id }, { tab: 'experiments' });
