import { listPolling, useOperation } from '../../api/index.ts';
import type { ExperimentCase, NamedExperiment } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import {
  Box,
  type Column,
  EmptyState,
  FilterBar,
  FilterSelect,
  Link,
  Loaded,
  NothingMatches,
  Pager,
  Section,
  Table,
} from '../../ui/index.ts';
import css from './evaluations.module.css';
import { isOpen, markOf, pointsOf, TrialTag } from './marks.tsx';
import { type experimentSearch, markFilters } from './search.ts';

const filters = ['outcome', 'grader'] as const;
type Search = ReturnType<typeof experimentSearch>;

/** The query of the API: what passed or not is a matter of labels, and only completed trials have them. */
const queryOf = ({ outcome, grader, next }: Search) => {
  if (outcome === 'passed' || outcome === 'not_passed') {
    const label = outcome === 'passed' ? ('pass' as const) : ('fail' as const);
    return { outcome: 'completed' as const, label, grader, next };
  }
  return { outcome, grader, next };
};

const trialHref = (experimentId: string, trialId: string): string =>
  to('/evaluations/experiments/$experimentId/trials/$trialId', { experimentId, trialId });

const bad = ['not_passed', 'failed', 'diverged', 'error'];

const meanOf = ({ trials }: ExperimentCase): number | null => {
  const scores = trials.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
};

/** The grid of an experiment: a row for each case, a mark for each trial. */
export const CaseGrid = ({ experiment }: { experiment: NamedExperiment }) => {
  const { search, set, clear, count } = useUrlState<Search>();
  const { id } = experiment;
  const got = useOperation(
    'listExperimentCases',
    { experiment_id: id },
    { query: { ...queryOf(search), limit: 50 }, every: listPolling(isOpen(experiment)), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const chosen = count(filters);
  const graders = [
    ...new Set([
      ...experiment.graders.map(({ name }) => name),
      ...experiment.scores.map(({ grader }) => grader),
    ]),
  ];
  const columns: readonly Column<ExperimentCase>[] = [
    { key: 'name', title: words.case, width: '38%', cell: ({ name }) => name },
    {
      key: 'trials',
      title: words.trialsBar,
      phone: 'below',
      cell: ({ name, trials }) => (
        <span className={css.marks}>
          {trials.map((trial) => {
            const mark = markOf(trial);
            return (
              <Link
                key={trial.id}
                href={trialHref(id, trial.id)}
                aria-label={words.markOf(name, trial.repetition, words.marks[mark])}
              >
                <TrialTag mark={mark} />
              </Link>
            );
          })}
        </span>
      ),
    },
    { key: 'score', title: words.score, numeric: true, width: '90px', cell: (row) => pointsOf(meanOf(row)) },
  ];
  return (
    <Section title={words.grid} note={words.gridNote}>
      <FilterBar set={chosen} onClear={() => clear(filters)}>
        <FilterSelect
          label={words.outcome}
          value={search.outcome}
          options={markFilters.map((value) => ({ value, label: words.marks[value] }))}
          onChange={(outcome) => set({ outcome })}
        />
        <FilterSelect
          label={words.grader}
          value={search.grader}
          options={graders.map((value) => ({ value, label: value }))}
          onChange={(grader) => set({ grader })}
        />
      </FilterBar>
      <Loaded got={got} operation="listExperimentCases">
        {({ data }) => (
          <Box>
            <Table
              label={words.grid}
              rows={data}
              columns={columns}
              rowKey={(row) => row.id}
              name={({ name }) => name}
              href={({ trials }) =>
                trialHref(id, (trials.find((trial) => bad.includes(markOf(trial))) ?? trials[0]!).id)
              }
              nothing={
                chosen > 0 ? (
                  <NothingMatches what={words.whatCases} filters={chosen} onClear={() => clear(filters)} />
                ) : (
                  <EmptyState sentence={words.noTrials} />
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Section>
  );
};
