import { StatusTag, workItemName } from '../../../resource/index.ts';
import { cost } from '../../../text/en/cost.ts';
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { workItems } from '../../../text/en/work-items.ts';
import { duration, number } from '../../../text/index.ts';
import { Duration, Time } from '../../../time/index.ts';
import { type Column, Muted, TwoLines, Words } from '../../../ui/index.ts';
import { questionOf } from '../question.ts';
import type { ListedWorkItem } from '../types.ts';
import css from './list.module.css';

type Row = ListedWorkItem;

/** The error, or the reason of the wait. */
const Reason = ({ row }: { row: Row }) => {
  const { error, waiting, status, cancel_requested_at } = row;
  if (status === 'ERROR' && error) {
    return (
      <>
        <code className={css.code}>{error.code}</code> {error.message}
      </>
    );
  }
  if (status === 'EXECUTING' && cancel_requested_at) {
    return <Words text={words.cancelAsked} at={<Time at={cancel_requested_at} form="relative" />} />;
  }
  if (!waiting || waiting.reason === 'draft') return null;
  if (waiting.reason === 'start' && waiting.until) {
    return <Words text={words.start} at={<Time at={waiting.until} />} />;
  }
  if (waiting.reason === 'budget' && waiting.until) {
    return <Words text={words.budget} at={<Time at={waiting.until} />} />;
  }
  if (waiting.reason === 'retry' && waiting.until) {
    return <Words text={words.retry} at={<Time at={waiting.until} form="relative" />} />;
  }
  return waiting.reason === 'person' ? questionOf(waiting.question) : waiting.text;
};

const Source = ({ row }: { row: Row }) => {
  const { schedule, scheduled_for, source, created_by_name } = row;
  const by = created_by_name ?? workItems.someone;
  if (!schedule) return <TwoLines below={by}>{words.sources[source]}</TwoLines>;
  return (
    <TwoLines
      below={
        scheduled_for ? <Words text={words.due} at={<Time at={scheduled_for} />} /> : words.byHandFrom(by)
      }
    >
      {schedule.name ?? workItems.deletedSchedule}
    </TwoLines>
  );
};

/** Returns the time that matters: the beginning of the wait or the execution, or the end. */
const whenOf = ({ finished_at, waiting, status, started_at, updated_at, created_at }: Row): string =>
  finished_at ?? waiting?.since ?? (status === 'EXECUTING' ? started_at : null) ?? updated_at ?? created_at;

const Took = ({ row }: { row: Row }) => {
  const { duration_ms, status, started_at, attempts } = row;
  const running = status === 'EXECUTING' && started_at;
  return (
    <TwoLines below={attempts > 1 && words.attempts(attempts)}>
      {duration_ms !== null ? duration(duration_ms) : running ? <Duration from={running} /> : null}
    </TwoLines>
  );
};

export const columns: readonly Column<Row>[] = [
  {
    key: 'name',
    title: words.columns.name,
    cell: (row) => <TwoLines below={row.agent.name ?? words.noAgent}>{workItemName(row)}</TwoLines>,
    width: '26%',
  },
  {
    key: 'status',
    title: words.columns.status,
    cell: (row) => (
      <>
        <StatusTag status={row.status} />
        <span className={css.reason}>
          <Reason row={row} />
        </span>
      </>
    ),
    width: '27%',
    phone: 'below',
  },
  {
    key: 'source',
    title: words.columns.source,
    cell: (row) => <Source row={row} />,
    width: '17%',
    phone: 'hide',
  },
  {
    key: 'when',
    title: words.columns.when,
    cell: (row) => <Time at={whenOf(row)} form="both" />,
    width: '13%',
  },
  {
    key: 'duration',
    title: words.columns.duration,
    cell: (row) => <Took row={row} />,
    numeric: true,
    phone: 'hide',
  },
  {
    key: 'tokens',
    title: words.columns.tokens,
    cell: ({ usage, cost_nano_usd, unknown_calls }) =>
      usage && (
        <Muted>
          <span
            title={[
              words.tokensTitle(usage.input_tokens, usage.output_tokens),
              ...(cost_nano_usd > 0 || unknown_calls > 0 ? [cost.amount(cost_nano_usd, unknown_calls)] : []),
            ].join('; ')}
          >
            {number(usage.input_tokens + usage.output_tokens)}
          </span>
        </Muted>
      ),
    numeric: true,
    phone: 'hide',
  },
];
