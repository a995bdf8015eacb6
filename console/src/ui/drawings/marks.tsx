import { outcomes } from '../../text/en/outcomes.ts';

/**
 * The outcomes of an occurrence, a run, a delivery: one color, one shape and one word each, the same everywhere.
 * `waits`: for a person. `due`: not yet. `model`: the model's share of a waterfall, which has no word.
 */
export const outcomeKinds = [
  'on-time',
  'late',
  'caught-up',
  'skipped',
  'missing',
  'due',
  'manual',
  'waits',
] as const;
export type Outcome = (typeof outcomeKinds)[number];

export const colorOf = (kind: Outcome): string =>
  `var(--${kind === 'due' ? 'text-3' : kind === 'waits' ? 'late' : kind})`;

/** The word of an outcome: "On time". */
export const wordOf = (kind: Outcome): string => outcomes[kind];

interface ShapeProps {
  kind: Outcome;
  x?: number;
  y?: number;
  height?: number;
}

/** The shape of an outcome, 10 wide, for use inside an SVG. */
export const Shape = ({ kind, x = 0, y = 0, height: h = 14 }: ShapeProps) => {
  const color = colorOf(kind);
  const middle = y + h / 2;
  switch (kind) {
    case 'on-time':
      return <rect x={x + 2} y={y} width={6} height={h} rx={1.5} fill={color} />;
    case 'late':
      return (
        <>
          <path
            d={`M${x + 2} ${y + h}V${y + 5.5}a1.5 1.5 0 0 1 1.5-1.5h3a1.5 1.5 0 0 1 1.5 1.5V${y + h - 1.5}a1.5 1.5 0 0 1-1.5 1.5H${x + 2}Z`}
            fill={color}
          />
          <rect x={x + 2} y={y} width={6} height={2} rx={1} fill={color} />
        </>
      );
    case 'caught-up':
      return (
        <rect
          x={x + 2.75}
          y={y + 0.75}
          width={4.5}
          height={h - 1.5}
          rx={1.5}
          fill="none"
          stroke={color}
          strokeWidth={1.5}
        />
      );
    case 'skipped':
      return (
        <path
          d={`M${x + 2} ${middle - 3}l6 6m0-6l-6 6`}
          stroke={color}
          strokeWidth={1.75}
          strokeLinecap="round"
        />
      );
    case 'missing':
      return (
        <>
          <path d={`M${x + 5} ${y + 1}v${h - 6}`} stroke={color} strokeWidth={2.5} strokeLinecap="round" />
          <circle cx={x + 5} cy={y + h - 1.75} r={1.6} fill={color} />
        </>
      );
    case 'manual':
      return <path d={`M${x + 5} ${middle - 4.5}l4 4.5-4 4.5-4-4.5Z`} fill={color} />;
    case 'waits':
      return (
        <>
          <rect x={x + 1.5} y={y + 2} width={2.5} height={h - 4} rx={1} fill={color} />
          <rect x={x + 6} y={y + 2} width={2.5} height={h - 4} rx={1} fill={color} />
        </>
      );
    default:
      return <circle cx={x + 5} cy={middle} r={2.75} fill="none" stroke={color} strokeWidth={1.25} />;
  }
};

export const Mark = ({ kind }: { kind: Outcome }) => (
  <svg width="10" height="14" aria-hidden="true" style={{ verticalAlign: -2, flex: 'none' }}>
    <Shape kind={kind} />
  </svg>
);
