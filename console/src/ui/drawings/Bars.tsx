import { cx } from '../cx.ts';
import css from './drawings.module.css';
import { colorOf, type Outcome } from './marks.tsx';

/** One bar for each value, for example each hour. The last one is lighter, because it still grows. */
export const Bars = ({
  values,
  kind,
  label,
  height = 24,
  growing = true,
  fills = false,
}: {
  values: readonly number[];
  kind?: Outcome;
  label: string;
  height?: number;
  growing?: boolean;
  /** As wide as its place. */
  fills?: boolean;
}) => {
  const most = Math.max(1, ...values);
  return (
    <svg
      width={fills ? '100%' : values.length * 5}
      height={height}
      {...(fills ? { viewBox: `0 0 ${values.length * 5} ${height}`, preserveAspectRatio: 'none' } : {})}
      role="img"
      aria-label={label}
      className={css.bars}
    >
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(2, (value / most) * height);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what the bar is about.
            key={index}
            x={index * 5}
            y={height - tall}
            width={3.5}
            height={tall}
            rx={Math.min(1, tall / 2)}
            fill={kind ? colorOf(kind) : 'var(--text-3)'}
            opacity={growing && index === values.length - 1 ? 0.45 : 0.85}
          />
        );
      })}
    </svg>
  );
};

/** A line through the values: lag, rate. It fills the width. */
export const Sparkline = ({
  values,
  kind = 'late',
  label,
  height = 32,
  most,
}: {
  values: readonly number[];
  kind?: Outcome;
  label: string;
  height?: number;
  /** The value at the top; the largest one if absent. */
  most?: number;
}) => {
  const top = most ?? Math.max(1, ...values);
  const points = values.map((value, index) => {
    const x = values.length > 1 ? (index / (values.length - 1)) * 1_000 : 0;
    return `${x.toFixed(1)} ${(height - 1 - (Math.min(value, top) / top) * (height - 2)).toFixed(1)}`;
  });
  return (
    <svg
      viewBox={`0 0 1000 ${height}`}
      width="100%"
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      className={css.block}
    >
      <path
        d={`M${points.join('L')}`}
        fill="none"
        stroke={colorOf(kind)}
        strokeWidth={1.6}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
};

export interface Part {
  label: string;
  value: number;
  kind: Outcome;
}

/**
 * A bar whose parts add up to the whole, or to a part of `of`: the rest is empty. A part that is not zero can always be seen.
 */
export const SumBar = ({
  parts,
  label,
  of = 0,
  thin = false,
}: {
  parts: readonly Part[];
  label: string;
  of?: number;
  thin?: boolean;
}) => {
  const sum = parts.reduce((before, part) => before + part.value, 0);
  const total = Math.max(sum, of);
  return (
    <div role="img" aria-label={label} className={cx(css.sum, thin && css.thin)}>
      {parts.map(
        (part) =>
          part.value > 0 && (
            <span key={part.label} style={{ flexGrow: part.value / total, background: colorOf(part.kind) }} />
          ),
      )}
    </div>
  );
};
