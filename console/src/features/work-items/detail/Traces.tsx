import { useOperation } from '../../../api/index.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { traces } from '../../../text/en/traces.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { Time } from '../../../time/index.ts';
import { TraceView } from '../../../traces/index.ts';
import {
  Box,
  Callout,
  Facts,
  Link,
  Loaded,
  Muted,
  NativeSelect,
  ShortId,
  Skeleton,
} from '../../../ui/index.ts';
import type { workItemSearch } from '../search.ts';
import type { Attempt, WorkItemDetail } from '../types.ts';
import css from './traces.module.css';

const linkName = ({ description, url }: WorkItemDetail['links'][number]): string =>
  description ?? (URL.canParse(url) ? new URL(url).host : url);

/** How an attempt ended, and where else its trace is. */
const AttemptFacts = ({ item, attempt }: { item: WorkItemDetail; attempt: Attempt }) => {
  const { outcome, error, started_at, usage, replica, trace_id } = attempt;
  const links = item.links.filter((link) => link.trace_id === trace_id);
  return (
    <Facts
      facts={[
        [words.attemptColumns.outcome, outcome ? words.outcomes[outcome] : words.runs],
        error && [words.facts.error, error.message || error.code],
        [words.attemptColumns.began, <Time key="began" at={started_at} seconds />],
        usage && [words.attemptColumns.usage, words.tokens(usage.input_tokens, usage.output_tokens)],
        replica !== null && [words.attemptColumns.replica, replica],
        [
          words.attemptColumns.trace,
          trace_id === null ? (
            <Muted key="trace">{words.noTrace}</Muted>
          ) : (
            <div key="trace">
              <ShortId id={trace_id} />
              {links.map((link) => (
                <Link key={link.integration_id} href={link.url} className={css.outside}>
                  {words.openTrace(linkName(link))}
                </Link>
              ))}
            </div>
          ),
        ],
      ]}
    />
  );
};

/** The trace of an attempt, if the platform keeps it. */
const Stored = ({ traceId }: { traceId: string }) => {
  const got = useOperation('getTrace', { trace_id: traceId }, { onFocus: false });
  if (got.error?.status === 404 && !got.data) return <Callout>{traces.notKept}</Callout>;
  return (
    <Loaded got={got} operation="getTrace" skeleton={<Skeleton rows={10} height={28} />}>
      {(trace) => <TraceView trace={trace} />}
    </Loaded>
  );
};

export const Traces = ({ item }: { item: WorkItemDetail }) => {
  const { search, set } = useUrlState<ReturnType<typeof workItemSearch>>();
  const count = item.attempts.length;
  if (count === 0) {
    return (
      <Box padded>
        <Muted>{words.noAttempts}</Muted>
      </Box>
    );
  }
  const asked = Number(search.attempt ?? count);
  const n = asked >= 1 && asked <= count ? asked : count;
  const attempt = item.attempts[n - 1]!;
  return (
    <>
      <div className={css.attemptBox}>
        <NativeSelect
          label={traces.attempt}
          value={String(n)}
          options={item.attempts.map((each, i) => ({
            value: String(i + 1),
            label: words.attempt(i + 1),
            note: each.outcome ? words.outcomes[each.outcome] : words.runs,
          }))}
          onChange={(value) => set({ attempt: Number(value) === count ? undefined : value, span: undefined })}
        />
        <AttemptFacts item={item} attempt={attempt} />
      </div>
      {attempt.trace_id !== null && <Stored key={attempt.trace_id} traceId={attempt.trace_id} />}
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
