import { workItems as words } from '../../../text/en/work-items.ts';
import { Duration, Time } from '../../../time/index.ts';
import { Box, type Column, Link, Muted, ShortId, Table, TwoLines } from '../../../ui/index.ts';
import type { Attempt, WorkItemDetail } from '../types.ts';
import css from './detail.module.css';

interface Row extends Attempt {
  key: string;
  links: WorkItemDetail['links'];
}

const linkName = ({ description, url }: WorkItemDetail['links'][number]): string =>
  description ?? (URL.canParse(url) ? new URL(url).host : url);

const columns: readonly Column<Row>[] = [
  {
    key: 'n',
    title: words.attemptColumns.n,
    cell: ({ n, replica }) => <TwoLines below={replica}>{words.attempt(n)}</TwoLines>,
    width: '18%',
  },
  {
    key: 'outcome',
    title: words.attemptColumns.outcome,
    cell: ({ outcome, error }) => (
      <TwoLines below={error?.message ?? error?.code}>
        {outcome ? words.outcomes[outcome] : words.runs}
      </TwoLines>
    ),
    width: '26%',
    phone: 'below',
  },
  {
    key: 'took',
    title: words.attemptColumns.took,
    cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
    numeric: true,
  },
  {
    key: 'began',
    title: words.attemptColumns.began,
    cell: ({ started_at }) => <Time at={started_at} form="both" seconds />,
    phone: 'below',
  },
  {
    key: 'usage',
    title: words.attemptColumns.usage,
    cell: ({ usage }) => usage && words.tokens(usage.input_tokens, usage.output_tokens),
    numeric: true,
    phone: 'hide',
  },
  {
    key: 'trace',
    title: words.attemptColumns.trace,
    cell: ({ trace_id, links }) =>
      trace_id === null ? (
        <Muted>{words.noTrace}</Muted>
      ) : (
        <TwoLines
          below={links.map((link) => (
            <Link key={link.integration_id} href={link.url} className={css.outside}>
              {words.openTrace(linkName(link))}
            </Link>
          ))}
        >
          <ShortId id={trace_id} />
        </TwoLines>
      ),
    width: '24%',
    phone: 'below',
  },
];

export const Traces = ({ item }: { item: WorkItemDetail }) => {
  const rows = item.attempts.map(
    (attempt, index): Row => ({
      ...attempt,
      key: `attempt-${index + 1}`,
      links: item.links.filter(({ trace_id }) => trace_id === attempt.trace_id),
    }),
  );
  if (rows.length === 0) {
    return (
      <Box padded>
        <Muted>{words.noAttempts}</Muted>
      </Box>
    );
  }
  return (
    <>
      <Box>
        <Table
          label={words.traces}
          columns={columns}
          rows={rows.toReversed()}
          rowKey={({ key }) => key}
          name={({ n }) => words.attempt(n)}
        />
      </Box>
      {item.links.length === 0 && (
        <p className={css.below}>
          <Muted small third>
            {words.noLinks}
          </Muted>
        </p>
      )}
    </>
  );
};
