import type { ReactNode } from 'react';
import type { Overview } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { Bars, Box, Link, type Outcome, Section, Words } from '../../ui/index.ts';
import css from './Numbers.module.css';

interface Figure {
  name: string;
  value: number;
  note?: ReactNode;
  href: string;
  hours?: readonly number[];
  kind?: Outcome;
}

const figuresOf = ({ work_items, spans }: Overview): Figure[] => [
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
          hours: work_items.per_hour.map(({ finished }) => finished),
          kind: 'on-time' as const,
        },
        {
          name: words.failed,
          value: work_items.by_status.ERROR,
          href: to('/work-items', {}, { status: 'ERROR' }),
          hours: work_items.per_hour.map(({ failed }) => failed),
          kind: 'missing' as const,
        },
        {
          name: words.tokens,
          value: work_items.per_hour.reduce((sum, { tokens }) => sum + tokens, 0),
          href: to('/work-items'),
          hours: work_items.per_hour.map(({ tokens }) => tokens),
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
          hours: spans.per_hour.map(({ delivered }) => delivered),
        },
      ]
    : []),
];

/** Figures of now, and by hour since yesterday. */
export const Numbers = ({ overview }: { overview: Overview }) => (
  <Section title={words.numbers}>
    <Box>
      <ul className={css.numbers}>
        {figuresOf(overview).map(({ name, value, note, href, hours, kind }) => (
          <li key={name}>
            <Link href={href}>
              <span>{name}</span>
              <b>
                {number(value)} <small>{note}</small>
              </b>
              {hours && <Bars values={hours} label={words.perHour(name)} {...(kind ? { kind } : {})} />}
            </Link>
          </li>
        ))}
      </ul>
    </Box>
  </Section>
);
