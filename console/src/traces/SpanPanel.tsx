import type { ReactNode } from 'react';
import { useOperation } from '../api/index.ts';
import type { TraceSpan, TraceSpanDetail } from '../api/types.gen.ts';
import { anchorOf, LongText, Messages, prettyJson } from '../messages/index.ts';
import { to } from '../routing/to.ts';
import { useUrlState } from '../routing/url-state.ts';
import { traces as words } from '../text/en/traces.ts';
import { number, usd } from '../text/index.ts';
import { Time } from '../time/index.ts';
import {
  Box,
  CopyValue,
  EmptyState,
  Facts,
  JsonView,
  Link,
  Loaded,
  Muted,
  OutcomeTag,
  Section,
  Skeleton,
  Tabs,
} from '../ui/index.ts';
import { callOf, messagesOf } from './messages-of.ts';
import css from './SpanPanel.module.css';
import type { spanTabs } from './search.ts';
import type { TreeNode } from './tree.ts';
import { ownTime } from './tree.ts';

type SpanTab = (typeof spanTabs)[number];

const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** Attributes by their names. */
const Attributes = ({ title, of }: { title: string; of: Readonly<Record<string, unknown>> }) => {
  const entries = Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    <section aria-label={title} className={css.group}>
      <h3>{title}</h3>
      {entries.length === 0 && <Muted third>{words.noAttributes}</Muted>}
      <dl className={css.attributes}>
        {entries.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <LongText text={plainText(value)} mono fileName={`${key}.txt`} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

const Overview = ({
  span,
  node,
  onChoose,
}: {
  span: TraceSpanDetail;
  node: TreeNode | undefined;
  onChoose: (spanId: string) => void;
}) => {
  const failed = span.status === 'error';
  const parent = node?.parent?.span;
  const tool = span.attributes['gen_ai.tool.name'];
  return (
    <Facts
      facts={[
        [words.type, words.types[span.type]],
        [
          words.status,
          <OutcomeTag key="status" kind={failed ? 'missing' : 'on-time'}>
            {words.statuses[span.status]}
          </OutcomeTag>,
        ],
        failed && span.error_type !== null && [words.errorType, span.error_type],
        span.status_message !== '' && [
          words.message,
          <LongText key="message" text={span.status_message} fileName="error.txt" />,
        ],
        [
          words.start,
          <span key="start">
            <Time at={span.started_at} seconds /> <Muted third>{words.after(span.offset_us)}</Muted>
          </span>,
        ],
        [words.took, words.micros(span.duration_us)],
        node !== undefined &&
          node.children.length > 0 && [
            words.own,
            <span key="own" title={words.ownHint}>
              {words.micros(ownTime(node))}
            </span>,
          ],
        span.model !== null && [words.model, span.model],
        typeof tool === 'string' && [words.tool, tool],
        span.tokens !== null && [words.tokens, number(span.tokens)],
        span.cost_nano_usd !== null && [words.cost, usd(span.cost_nano_usd)],
        typeof span.resource['service.name'] === 'string' && [
          words.serviceName,
          span.resource['service.name'],
        ],
        span.scope.name !== '' && [words.scope, [span.scope.name, span.scope.version].join(' ')],
        span.kind !== 'unspecified' && [words.kind, span.kind],
        parent !== undefined && [
          words.parent,
          <button key="parent" type="button" className={css.parent} onClick={() => onChoose(parent.span_id)}>
            {parent.name}
          </button>,
        ],
        span.links.length > 0 && [
          words.links,
          <ul key="links" className={css.links}>
            {span.links.slice(0, 20).map(({ trace_id, span_id }) => (
              <li key={`${trace_id} ${span_id}`}>
                <Link href={to('/traces/$traceId', { traceId: trace_id }, { span: span_id })}>
                  {words.linkTo(trace_id)}
                </Link>
              </li>
            ))}
          </ul>,
        ],
        span.step !== null && [
          words.step,
          <Link
            key="step"
            href={to(
              '/work-items/$workItemId',
              { workItemId: span.step.work_item_id },
              { tab: 'timeline' },
              span.step.message_id === null ? undefined : anchorOf(span.step.message_id),
            )}
          >
            {span.step.message_id === null ? words.openWorkItem : words.openMessage}
          </Link>,
        ],
        [words.spanId, <CopyValue key="id" value={span.span_id} mono />],
      ]}
    />
  );
};

/** Messages that are looked through for the one that the step stored. */
const searched = 200;

/** The message that the step stored: those who may read the Work Item read it. */
const StoredMessage = ({ step }: { step: NonNullable<TraceSpanDetail['step']> }) => {
  const got = useOperation(
    'listShownMessages',
    { work_item_id: step.work_item_id },
    { query: { limit: searched } },
  );
  return (
    <Loaded got={got} operation="listShownMessages" skeleton={<Skeleton rows={3} height={44} />}>
      {({ data }) => {
        const found = data.find(({ id }) => id === step.message_id);
        if (!found) return <Muted>{words.messageGone}</Muted>;
        const { id, role, content, created_at } = found;
        return (
          <Messages
            label={words.stored}
            messages={[{ id, role, content, created_at, author: words.roles[role] }]}
          />
        );
      }}
    </Loaded>
  );
};

const MessagesTab = ({ span }: { span: TraceSpanDetail }) => {
  const messages = messagesOf(span);
  const call = callOf(span);
  const { step } = span;
  const hasCall = call.arguments !== undefined || call.result !== undefined;
  if (messages.length === 0 && !hasCall && step?.message_id == null) {
    return <EmptyState sentence={words.noMessages} />;
  }
  return (
    <div className={css.messages}>
      {messages.length > 0 && <Messages label={words.tabs.messages} messages={messages} />}
      {(['arguments', 'result'] as const).map(
        (name) =>
          call[name] !== undefined && (
            <section key={name} aria-label={words[name]} className={css.group}>
              <h3>{words[name]}</h3>
              <LongText text={prettyJson(plainText(call[name]))} mono fileName={`${name}.txt`} />
            </section>
          ),
      )}
      {messages.length === 0 && !hasCall && step !== null && (
        <>
          <p className={css.stored}>
            <Muted>{words.stored}</Muted>
          </p>
          <StoredMessage step={step} />
        </>
      )}
    </div>
  );
};

const Events = ({ span }: { span: TraceSpanDetail }) => {
  if (span.events.length === 0) return <EmptyState sentence={words.noEvents} />;
  return (
    <ol className={css.events}>
      {span.events.slice(0, 500).map(({ name, offset_us, attributes }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events have no id, and keep their places.
        <li key={index}>
          <p>
            <b>{name}</b> <Muted third>{words.after(offset_us)}</Muted>
          </p>
          <dl className={css.attributes}>
            {Object.entries(attributes).map(([key, value]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>
                  <LongText text={plainText(value)} mono fileName={`${key}.txt`} />
                </dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ol>
  );
};

/** One span with all that it has. `node`: where it is in the tree of the trace. */
export const SpanPanel = ({
  traceId,
  span,
  node,
  onChoose,
}: {
  traceId: string;
  span: TraceSpan;
  node: TreeNode | undefined;
  onChoose: (spanId: string) => void;
}) => {
  const { search, href } = useUrlState<{ show?: SpanTab }>();
  const got = useOperation(
    'getTraceSpan',
    { trace_id: traceId, span_id: span.span_id },
    { keepPrevious: true, staleTime: 60_000, onFocus: false },
  );
  const shown = search.show ?? 'overview';
  const contents: Record<SpanTab, (whole: TraceSpanDetail) => ReactNode> = {
    overview: (whole) => <Overview span={whole} node={node} onChoose={onChoose} />,
    messages: (whole) => <MessagesTab key={whole.span_id} span={whole} />,
    attributes: (whole) => (
      <div key={whole.span_id}>
        <Attributes title={words.ofSpan} of={whole.attributes} />
        <Attributes title={words.ofResource} of={whole.resource} />
      </div>
    ),
    events: (whole) => <Events span={whole} />,
    raw: (whole) => <JsonView value={whole} label={words.rawSpan} fileName={`span-${whole.span_id}.json`} />,
  };
  return (
    <Section title={words.span} note={span.name}>
      <Tabs
        label={words.spanTabs}
        value={shown}
        tabs={(Object.keys(contents) as SpanTab[]).map((value) => ({
          value,
          label: words.tabs[value],
          href: href({ show: value === 'overview' ? undefined : value }),
          count: value === 'events' ? span.event_count || undefined : undefined,
        }))}
      >
        <Box padded={shown !== 'messages' && shown !== 'raw'}>
          <Loaded got={got} operation="getTraceSpan" skeleton={<Skeleton rows={8} height={28} />}>
            {(whole) => contents[shown](whole)}
          </Loaded>
        </Box>
      </Tabs>
    </Section>
  );
};
