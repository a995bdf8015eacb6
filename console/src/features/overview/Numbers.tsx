import type { Overview } from '../../api/types.gen.ts';
import { type Figure, Figures } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import { Time } from '../../time/index.ts';
import { Bars, type Outcome, Words } from '../../ui/index.ts';

const bars = (name: string, values: readonly number[], kind?: Outcome) => (
  <Bars values={values} label={words.perHour(name)} {...(kind ? { kind } : {})} />
);

const sumOf = <T,>(hours: readonly T[], of: (hour: T) => number): number =>
  hours.reduce((sum, hour) => sum + of(hour), 0);

const figuresOf = ({ work_items, triggers, spans }: Overview): Figure[] => [
  ...(work_items
    ? [
        {
          name: words.executing,
          value: work_items.by_status.EXECUTING,
          note: words.slots(work_items.slots),
          href: to('/work-items', {}, { status: 'EXECUTING' }),
        },
        {
          name: words.pending,
          value: work_items.by_status.PENDING,
          note: work_items.oldest_pending_at && (
            <Words text={words.oldest} at={<Time at={work_items.oldest_pending_at} form="relative" />} />
          ),
          href: to('/work-items', {}, { status: 'PENDING' }),
        },
        {
          name: words.finished,
          value: work_items.by_status.COMPLETED,
          href: to('/work-items', {}, { status: 'COMPLETED' }),
          below: bars(
            words.finished,
            work_items.per_hour.map(({ finished }) => finished),
            'on-time',
          ),
        },
        {
          name: words.failed,
          value: work_items.by_status.ERROR,
          href: to('/work-items', {}, { status: 'ERROR' }),
          below: bars(
            words.failed,
            work_items.per_hour.map(({ failed }) => failed),
            'missing',
          ),
        },
        {
          name: words.tokens,
          value: sumOf(work_items.per_hour, ({ tokens }) => tokens),
          href: to('/work-items'),
          below: bars(
            words.tokens,
            work_items.per_hour.map(({ tokens }) => tokens),
          ),
        },
      ]
    : []),
  ...(triggers && triggers.enabled + triggers.paused + triggers.blocked > 0
    ? [
        {
          name: words.events,
          value: sumOf(triggers.per_hour, ({ fired, other, failed }) => fired + other + failed),
          note: words.invalid(sumOf(triggers.per_hour, ({ failed }) => failed)),
          href: to('/triggers'),
          below: bars(
            words.events,
            triggers.per_hour.map(({ fired, other, failed }) => fired + other + failed),
          ),
        },
      ]
    : []),
  ...(spans
    ? [
        {
          name: words.spans,
          value: spans.delivered,
          note: words.queued(spans.queued),
          href: to('/integrations'),
          below: bars(
            words.spans,
            spans.per_hour.map(({ delivered }) => delivered),
          ),
        },
      ]
    : []),
];

/** Figures of now, and by hour since yesterday. */
export const Numbers = ({ overview }: { overview: Overview }) => (
  <Figures title={words.numbers} figures={figuresOf(overview)} />
);
