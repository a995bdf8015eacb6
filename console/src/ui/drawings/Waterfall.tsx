import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef } from 'react';
import { cx } from '../cx.ts';
import { Link } from '../Link.tsx';
import css from './drawings.module.css';
import { durationTicks } from './scale.ts';

/** A step of a run. Waiting is a step too. */
export interface Step {
  id: string;
  name: string;
  kind: 'attempt' | 'model' | 'tool' | 'wait' | 'review';
  /** Milliseconds from the start of the first step. */
  from: number;
  /** null: it has not ended. It runs to the edge. */
  to: number | null;
  failed?: boolean;
  /** Next to the bar: "120 s, no reply". */
  note?: string;
  depth?: number;
  href?: string;
}

const rowHeight = 28;
/** Beyond this many rows only those in view are rendered. */
const virtualFrom = 200;

/** Says that the note of a bar fits on neither side of it. */
const isWide = ({ from, to, note }: Step, last: number): boolean =>
  Boolean(note) && from < last * 0.2 && (to ?? last) > last * 0.72;

/** The end of the axis: steps that have not ended get a tenth of it, and there is room for what is said of long ones. */
const endOf = (steps: readonly Step[]): number => {
  const last = Math.max(1, ...steps.map((step) => Math.max(step.from, step.to ?? 0)));
  if (steps.some((step) => isWide(step, last))) return last * 1.25;
  return steps.some((step) => step.to === null) ? last * 1.12 : last * 1.02;
};

interface RowProps {
  step: Step;
  total: number;
  start?: number;
}

/** Not rendered again while others scroll into view: two thousand steps then scroll in tasks of a few milliseconds. */
const Row = memo(({ step, total, start }: RowProps) => {
  const left = (step.from / total) * 100;
  const width = (((step.to ?? total) - step.from) / total) * 100;
  const waits = step.kind === 'wait' || step.kind === 'review';
  const noteFirst = left + width > 80;
  const name = (
    <span
      className={cx(css.stepName, !step.depth && css.outer)}
      style={{ paddingLeft: (step.depth ?? 0) * 16 }}
    >
      {step.name}
    </span>
  );
  return (
    <li
      className={cx(css.step, start !== undefined && css.placed)}
      style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
    >
      <div className={css.stepLabel} title={step.name}>
        {step.href ? <Link href={step.href}>{name}</Link> : name}
      </div>
      <div className={css.stepTrack}>
        <span
          className={cx(css.bar, css[step.kind], step.failed && css.failed, waits && css.waiting)}
          style={{ left: `${left}%`, width: `max(3px, ${width}%)` }}
        />
        {step.note && (
          <span
            className={css.stepNote}
            style={
              noteFirst ? { right: `calc(${100 - left}% + 8px)` } : { left: `calc(${left + width}% + 8px)` }
            }
          >
            {step.note}
          </span>
        )}
      </div>
    </li>
  );
});

/** Attempts, model and tool steps and waits, one below the other on one axis. The names stay while it scrolls sideways. */
export const Waterfall = ({ label, steps }: { label: string; steps: readonly Step[] }) => {
  const box = useRef<HTMLDivElement>(null);
  const total = useMemo(() => endOf(steps), [steps]);
  const long = steps.length > virtualFrom;
  const virtual = useVirtualizer({
    count: long ? steps.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const open = steps.some((step) => step.to === null);
  // The step in progress is at the end.
  useEffect(() => {
    if (open && box.current) box.current.scrollLeft = box.current.scrollWidth;
  }, [open]);
  return (
    <div
      className={cx(css.waterfall, long && css.long)}
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <div className={css.axis} aria-hidden="true">
        <div />
        <div className={css.ticks}>
          {durationTicks(total).map((tick) => (
            <span key={tick.at} style={{ left: `${(tick.at / total) * 100}%` }}>
              <i>{tick.label}</i>
            </span>
          ))}
        </div>
      </div>
      <div className={css.lines} style={{ height: steps.length * rowHeight }} aria-hidden="true">
        {durationTicks(total).map((tick) => (
          <span key={tick.at} style={{ left: `${(tick.at / total) * 100}%` }} />
        ))}
      </div>
      <ol
        className={css.steps}
        style={long ? { height: virtual.getTotalSize(), position: 'relative' } : undefined}
      >
        {long
          ? virtual
              .getVirtualItems()
              .map(({ index, start }) => (
                <Row key={steps[index]!.id} step={steps[index]!} total={total} start={start} />
              ))
          : steps.map((step) => <Row key={step.id} step={step} total={total} />)}
      </ol>
    </div>
  );
};
