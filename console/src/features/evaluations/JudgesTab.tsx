import { useOperation } from '../../api/index.ts';
import type { PublicJudge } from '../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { percent } from '../../text/index.ts';
import {
  Box,
  type Column,
  EmptyState,
  Loaded,
  Muted,
  OutcomeTag,
  Pager,
  Table,
  TwoLines,
} from '../../ui/index.ts';

const share = (value: number | null) => (value === null ? <Muted>{words.unknown}</Muted> : percent(value));
const isShort = ({ labels }: PublicJudge) => labels.pass + labels.fail < 50;

const columns: readonly Column<PublicJudge>[] = [
  {
    key: 'rubric',
    title: words.rubric,
    width: '42%',
    cell: ({ rubric, votes }) => <TwoLines below={words.votesOf(votes)}>{rubric.slice(0, 300)}</TwoLines>,
  },
  {
    key: 'labels',
    title: words.judgeLabels,
    phone: 'below',
    cell: ({ labels }) => words.labelCounts(labels.pass, labels.fail),
  },
  {
    key: 'precision',
    title: words.precision,
    titled: true,
    phone: 'below',
    cell: ({ precision }) => <TwoLines below={words.precisionHint}>{share(precision)}</TwoLines>,
  },
  {
    key: 'recall',
    title: words.recall,
    titled: true,
    phone: 'below',
    cell: ({ recall }) => <TwoLines below={words.recallHint}>{share(recall)}</TwoLines>,
  },
  {
    key: 'calibrated',
    title: words.calibration,
    phone: 'below',
    cell: (judge) =>
      judge.calibrated ? (
        <OutcomeTag kind="on-time">{words.calibrated}</OutcomeTag>
      ) : (
        <TwoLines below={isShort(judge) ? undefined : words.needEach}>
          <OutcomeTag kind="due">{words.ofFifty(judge.labels.pass + judge.labels.fail)}</OutcomeTag>
        </TwoLines>
      ),
  },
];

/** Judges, and how well they agree with people. */
export const JudgesTab = () => {
  const { search } = useUrlState<{ next?: string }>();
  const got = useOperation('listJudges', {}, { query: { next: search.next }, keepPrevious: true });
  const pager = useCursor(got.data?.next);
  return (
    <>
      <Loaded got={got} operation="listJudges">
        {({ data }) => (
          <Box>
            <Table
              label={words.tabs.judges}
              rows={data}
              columns={columns}
              rowKey={({ key }) => key}
              name={({ rubric }) => rubric}
              nothing={<EmptyState sentence={words.noJudges} />}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
