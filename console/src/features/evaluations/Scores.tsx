import type { NamedExperiment, TrialDetail } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { number, percent } from '../../text/index.ts';
import {
  Box,
  type Column,
  EmptyState,
  Link,
  Muted,
  OutcomeTag,
  Section,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import css from './evaluations.module.css';

type Summary = NamedExperiment['scores'][number];
type Score = TrialDetail['scores'][number];

const Mean = ({ mean }: { mean: number | null }) =>
  mean === null ? (
    <Muted>{words.unknown}</Muted>
  ) : (
    <>
      <span className={css.bar} aria-hidden="true">
        <span style={{ width: `${mean * 100}%` }} />
      </span>
      {words.points(mean)}
    </>
  );

interface ScoreTableProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
}

/** Region "Scores": a row for each grader. */
const ScoreTable = <Row extends { grader: string }>({ rows, columns }: ScoreTableProps<Row>) => (
  <Section title={words.scores}>
    <Box>
      <Table
        label={words.scores}
        rows={rows}
        columns={columns}
        rowKey={({ grader }) => grader}
        name={({ grader }) => grader}
        nothing={<EmptyState sentence={words.noScores} />}
      />
    </Box>
  </Section>
);

/** The scores of an experiment, grader by grader. */
export const ExperimentScores = ({ experiment }: { experiment: NamedExperiment }) => {
  const columns: readonly Column<Summary>[] = [
    { key: 'grader', title: words.grader, width: '36%', cell: ({ grader }) => grader },
    { key: 'mean', title: words.meanOf, titled: true, cell: ({ mean }) => <Mean mean={mean} /> },
    {
      key: 'pass',
      title: words.passRate,
      titled: true,
      phone: 'below',
      cell: ({ pass_rate }) => (pass_rate === null ? <Muted>{words.unknown}</Muted> : percent(pass_rate)),
    },
    { key: 'scored', title: words.scored, phone: 'hide', cell: ({ scored }) => number(scored) },
    {
      key: 'unlabelled',
      title: words.unlabelled,
      titled: true,
      phone: 'below',
      cell: ({ grader, unlabelled }) =>
        unlabelled === 0 ? (
          <Muted>{words.unknown}</Muted>
        ) : (
          <Link href={to('/evaluations/label', {}, { experiment: experiment.id, grader })}>
            {words.trials(unlabelled)}
          </Link>
        ),
    },
  ];
  return <ScoreTable rows={experiment.scores} columns={columns} />;
};

const kinds = { pass: 'on-time', fail: 'missing', error: 'late' } as const;

/** The scores of one trial, with what its graders and people say. */
export const TrialScores = ({ trial }: { trial: TrialDetail }) => {
  const columns: readonly Column<Score>[] = [
    { key: 'grader', title: words.grader, width: '24%', cell: ({ grader }) => grader },
    {
      key: 'value',
      title: words.score,
      phone: 'below',
      cell: ({ value, label }) => (
        <TwoLines below={value === null ? undefined : words.points(value)}>
          {label === null ? (
            <OutcomeTag kind="waits">{words.notLabelled}</OutcomeTag>
          ) : (
            <OutcomeTag kind={kinds[label]}>{words.labels[label]}</OutcomeTag>
          )}
        </TwoLines>
      ),
    },
    {
      key: 'explanation',
      title: words.explanation,
      width: '52%',
      phone: 'below',
      cell: ({ grader, explanation }) => {
        const said = trial.labels.filter((label) => label.grader === grader);
        const people = said.map(({ verdict, principal_name, comment }) =>
          [words.labelBy(words.labels[verdict], principal_name), comment].filter(Boolean).join(': '),
        );
        return <TwoLines below={people.join(' · ')}>{explanation}</TwoLines>;
      },
    },
  ];
  return <ScoreTable rows={trial.scores} columns={columns} />;
};
