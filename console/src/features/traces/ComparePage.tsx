import { useMemo } from 'react';
import { useOperation } from '../../api/index.ts';
import type { Trace } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { traces as words } from '../../text/en/traces.ts';
import { number, usd } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { treesOf } from '../../traces/tree.ts';
import {
  Box,
  ButtonLink,
  Callout,
  type Column,
  cx,
  Emphasis,
  Link,
  Loaded,
  Muted,
  Page,
  Skeleton,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { type Aligned, align } from './align.ts';
import type { compareSearch } from './search.ts';
import css from './traces.module.css';

/** More rows take long to show, and no one reads them. */
const mostRows = 1_000;
const indent = 16;
const deepest = 12;

interface Row extends Aligned {
  key: string;
}

type Of = (span: NonNullable<Aligned['a']>) => number | null;

/** How a figure changed, above what it was in A and in B. */
const change = (
  key: string,
  title: string,
  of: Of,
  shown: (value: number) => string,
  changed: (value: number) => string,
): Column<Row> => ({
  key,
  title,
  width: '19%',
  numeric: true,
  titled: true,
  cell: ({ a, b }) => {
    const [before, after] = [a, b].map((span) => (span ? of(span) : null));
    if (before == null || after == null) {
      const only = before ?? after;
      return only == null ? '' : <Muted>{shown(only)}</Muted>;
    }
    const difference = after - before;
    return (
      <TwoLines below={words.fromTo(shown(before), shown(after))}>
        <span className={cx(difference > 0 && css.more, difference < 0 && css.less)}>
          {changed(difference)}
        </span>
      </TwoLines>
    );
  },
});

const columns: readonly Column<Row>[] = [
  {
    key: 'name',
    title: words.columns.span,
    cell: ({ name, depth, a, b }) => (
      <span className={css.name} style={{ paddingLeft: Math.min(depth, deepest) * indent }}>
        {name || words.unnamed}
        {!b && <span className={css.only}>{words.onlyA}</span>}
        {!a && <span className={css.only}>{words.onlyB}</span>}
      </span>
    ),
  },
  change('took', words.deltaTook, ({ duration_us }) => duration_us, words.micros, words.durations),
  change('tokens', words.deltaTokens, ({ tokens }) => tokens, number, words.counts),
  change('cost', words.deltaCost, ({ cost_nano_usd }) => cost_nano_usd, usd, words.amounts),
];

const Differences = ({ a, b }: { a: Trace; b: Trace }) => {
  const rows = useMemo(
    () => align(treesOf(a.spans), treesOf(b.spans)).map((row, i): Row => ({ ...row, key: `${i}` })),
    [a, b],
  );
  const shown = rows.slice(0, mostRows);
  return (
    <>
      <Box>
        <dl className={css.heads}>
          {([a, b] as const).map((trace, i) => (
            <div key={i === 0 ? 'a' : 'b'} style={{ display: 'contents' }}>
              <dt>{i === 0 ? words.a : words.b}</dt>
              <dd>
                <Link href={to('/traces/$traceId', { traceId: trace.trace_id })}>
                  {trace.name || words.unnamed}
                </Link>{' '}
                <Muted third>
                  <Time at={trace.started_at} seconds />
                </Muted>
              </dd>
            </div>
          ))}
        </dl>
        <Table
          label={words.differences}
          rows={shown}
          columns={columns}
          rowKey={({ key }) => key}
          name={({ name }) => name}
        />
      </Box>
      {rows.length > shown.length && (
        <p className={css.below}>
          <Muted small third>
            {words.moreRows(rows.length - shown.length)}
          </Muted>
        </p>
      )}
    </>
  );
};

const Lead = ({ a, b }: { a: Trace; b: Trace }) => {
  const rows = align(treesOf(a.spans), treesOf(b.spans));
  const delta = (b.duration_ms - a.duration_ms) * 1_000;
  return (
    <>
      <Emphasis {...(delta > 0 ? { tone: 'late' as const } : {})}>{words.slower(delta)}</Emphasis>{' '}
      {words.onlyCounts(rows.filter((row) => !row.b).length, rows.filter((row) => !row.a).length)}
    </>
  );
};

/** Two traces, span by span. */
export const ComparePage = () => {
  const { search, href } = useUrlState<ReturnType<typeof compareSearch>>();
  const { a, b } = search;
  const first = useOperation('getTrace', a === undefined ? null : { trace_id: a }, { onFocus: false });
  const second = useOperation('getTrace', b === undefined ? null : { trace_id: b }, { onFocus: false });
  const both = first.data && second.data;
  const list = { label: pages.traces, href: to('/traces') };
  return (
    <Page
      title={words.compareTraces}
      crumbs={[list]}
      lead={both ? <Lead a={first.data!} b={second.data!} /> : ''}
      actions={both && <ButtonLink href={href({ a: b, b: a })}>{words.swap}</ButtonLink>}
      wide
    >
      {a === undefined || b === undefined ? (
        <Callout>{words.chooseBoth}</Callout>
      ) : (
        <Loaded got={first} operation="getTrace" list={list} skeleton={<Skeleton rows={12} height={36} />}>
          {(left) => (
            <Loaded
              got={second}
              operation="getTrace"
              list={list}
              skeleton={<Skeleton rows={12} height={36} />}
            >
              {(right) => <Differences a={left} b={right} />}
            </Loaded>
          )}
        </Loaded>
      )}
    </Page>
  );
};
