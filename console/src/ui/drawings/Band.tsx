import { memo, startTransition, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { ui } from '../../text/en/ui.ts';
import { number as format, list } from '../../text/format.ts';
import { clockTime, exactTime, shortDay } from '../../time/format.ts';
import { Link } from '../Link.tsx';
import {
  type BandBucket,
  type Count,
  countsOf,
  drawnWidth,
  mergeBuckets,
  middleOf,
  widthOf,
} from './buckets.ts';
import { ClockChanges } from './ClockChanges.tsx';
import { type Axis, axisOf, clockChanges } from './clock-changes.ts';
import css from './drawings.module.css';
import { colorOf, type Outcome, Shape, wordOf } from './marks.tsx';
import { clockStep } from './scale.ts';
import { useWidth } from './use-width.ts';
import { nightsBetween, ticksBetween } from './zone-time.ts';

export interface BandRow {
  id: string;
  name: string;
  href?: string;
  /** Words for its marks, if they are not occurrences. */
  words?: Partial<Record<Outcome, string>>;
  buckets: readonly BandBucket[];
}

interface Transition {
  at: string;
  zone: string;
}

export interface BandProps {
  label: string;
  rows: readonly BandRow[];
  /** Milliseconds, like `now`. */
  from: number;
  to: number;
  now: number;
  zone: string;
  /** When the clock of a zone changes: those of other zones are left out. */
  transitions?: readonly Transition[];
}

const rowHeight = 30;
const top = 26;
/** Height of the line below the rows that says how the clock changes. */
const clockLine = 18;
const least = 620;
const noTransitions: readonly Transition[] = [];

/** One mark, or a bar with the number of those that are merged in it. */
const Counted = ({ count, x, y }: { count: Count; x: number; y: number }) => {
  const { kind, number } = count;
  const width = widthOf(count);
  if (number === 1) return <Shape kind={kind} x={x} y={y + 7} height={16} />;
  const hollow = kind === 'due';
  return (
    <>
      <rect
        x={x + 0.5}
        y={y + 7.5}
        width={width - 1}
        height={15}
        rx={2}
        fill={hollow ? 'none' : colorOf(kind)}
        stroke={colorOf(kind)}
      />
      <text x={x + width / 2} y={y + 19} textAnchor="middle" className={hollow ? undefined : css.inside}>
        {format(number)}
      </text>
    </>
  );
};

/** The marks of a bucket, next to each other around the middle of its time. */
const Marks = ({ bucket, middle, y }: { bucket: BandBucket; middle: number; y: number }) => {
  let left = middle - drawnWidth(bucket) / 2;
  return countsOf(bucket).map((count) => {
    const place = left;
    left += widthOf(count) + 1;
    return <Counted key={count.kind} count={count} x={place} y={y} />;
  });
};

/** What marks are drawn from. */
interface Drawn {
  rows: readonly BandRow[];
  from: number;
  to: number;
  now: number;
  zone: string;
  axis: Axis;
  width: number;
}

/** Whether marks of `old` are where they belong, to a few pixels: other rows, or another span, have their own. */
const fits = (old: Drawn, { rows, from, to, zone }: Drawn): boolean =>
  old.to - old.from === to - from &&
  old.zone === zone &&
  old.rows.length === rows.length &&
  old.rows.every(({ id }, i) => id === rows[i]!.id);

/** The marks of a row: each is a link, or has only its words. */
const Row = memo(({ row, y, drawn }: { row: BandRow; y: number; drawn: Drawn }) => {
  const {
    now,
    zone,
    axis: { x },
    width,
  } = drawn;
  const title = (bucket: BandBucket) => {
    const counts = countsOf(bucket).map(({ kind, number }) =>
      ui.countWord(number, (row.words?.[kind] ?? wordOf(kind)).toLowerCase()),
    );
    return `${row.name}, ${exactTime(new Date(bucket.from), zone)}: ${list(counts)}`;
  };
  return (
    <g>
      <path d={`M0 ${y}H${width}`} stroke="var(--line)" />
      {mergeBuckets(row.buckets, now, x).map((bucket) => {
        const middle = middleOf(bucket, now, x);
        return bucket.href ? (
          <a key={bucket.from} href={bucket.href(bucket.from, bucket.ends ?? bucket.to)}>
            <title>{title(bucket)}</title>
            {/* The gaps between the marks, and a little around them, are a part of the link. */}
            <rect
              x={middle - drawnWidth(bucket) / 2 - 1}
              y={y + 3}
              width={drawnWidth(bucket) + 2}
              height={24}
              fill="transparent"
            />
            <Marks bucket={bucket} middle={middle} y={y} />
          </a>
        ) : (
          <g key={bucket.from}>
            <title>{title(bucket)}</title>
            <Marks bucket={bucket} middle={middle} y={y} />
          </g>
        );
      })}
    </g>
  );
});

/**
 * Occurrences over time: what was, before the line of now, and what is expected after it. Nights are shaded and days are
 * separated in the chosen zone; hours that do not exist are hatched, those that are there twice have both. The names
 * stay while it scrolls. The marks are rendered after the rest, in parts of 5 ms: a thousand of them are a fifth
 * of a second on a slow device.
 */
export const Band = ({ label, rows, from, to, now, zone, transitions = noTransitions }: BandProps) => {
  const [painted, setPainted] = useState(false);
  useEffect(() => startTransition(() => setPainted(true)), []);
  const [frame, measured] = useWidth();
  const scroller = useRef<HTMLDivElement>(null);
  const width = Math.max(least, measured);
  const height = top + rows.length * rowHeight;
  const { changes, axis } = useMemo(() => {
    const own = transitions.filter((one) => one.zone === zone).map(({ at }) => Date.parse(at));
    const shown = own.filter((at) => at > from && at < to);
    const changes = clockChanges(shown, zone);
    return { changes, axis: axisOf(from, to, width, changes) };
  }, [from, to, width, transitions, zone]);
  const newest = useMemo(
    () => ({ rows, from, to, now, zone, axis, width }),
    [rows, from, to, now, zone, axis, width],
  );
  const drawn = useDeferredValue(painted ? newest : null);
  const { x } = axis;
  const nowX = x(now);
  useEffect(() => {
    const box = scroller.current;
    if (box && box.scrollWidth > box.clientWidth) box.scrollLeft = nowX - box.clientWidth * 0.6;
  }, [nowX]);
  const ticks = ticksBetween(from, to, zone, clockStep(to - from, width));
  return (
    <div className={css.band}>
      <div className={css.names} style={{ paddingTop: top }}>
        {rows.map((row) => (
          <div key={row.id} className={css.name} style={{ height: rowHeight }}>
            {row.href ? <Link href={row.href}>{row.name}</Link> : <span>{row.name}</span>}
          </div>
        ))}
      </div>
      <div className={css.track} ref={scroller} tabIndex={0} role="group" aria-label={label}>
        <div ref={frame} />
        <svg
          width={width}
          height={height + (changes.length > 0 ? clockLine : 1)}
          className={css.block}
          role="presentation"
        >
          {nightsBetween(from, to, zone).map((night) => (
            <rect
              key={night.from}
              x={x(night.from)}
              y={top}
              width={x(night.to) - x(night.from)}
              height={height - top}
              fill="var(--night)"
            />
          ))}
          {ticks.map(({ at, midnight }) => (
            <g key={at}>
              <path
                d={`M${x(at)} ${top}V${height}`}
                stroke={midnight ? 'var(--line-strong)' : 'var(--line)'}
                strokeDasharray={midnight ? undefined : '1 4'}
              />
              {Math.abs(x(at) - nowX) > 62 && (
                <text
                  x={x(at)}
                  y={14}
                  textAnchor={x(at) < 24 ? 'start' : x(at) > width - 30 ? 'end' : 'middle'}
                >
                  {midnight
                    ? `${shortDay(new Date(at), zone).split(' ')[0]} 00:00`
                    : clockTime(new Date(at), zone)}
                </text>
              )}
            </g>
          ))}
          <ClockChanges changes={changes} axis={axis} top={top} bottom={height} width={width} />
          {drawn &&
            fits(drawn, newest) &&
            drawn.rows.map((row, index) => (
              <Row key={row.id} row={row} y={top + index * rowHeight} drawn={drawn} />
            ))}
          {now >= from && now <= to && (
            <>
              <path d={`M${nowX} ${top - 4}V${height}`} stroke="var(--accent)" strokeWidth={1.5} />
              <rect x={nowX - 34} y={2} width={68} height={18} rx={9} fill="var(--accent)" />
              <text x={nowX} y={15} textAnchor="middle" className={css.inside}>
                {ui.now(clockTime(new Date(now), zone))}
              </text>
            </>
          )}
        </svg>
      </div>
    </div>
  );
};
