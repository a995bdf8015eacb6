import { type HTMLAttributes, memo } from 'react';
import type { TraceSpan } from '../api/types.gen.ts';
import { traces as words } from '../text/en/traces.ts';
import { number, usd } from '../text/index.ts';
import { cx, Mark } from '../ui/index.ts';
import type { TreeNode } from './tree.ts';
import css from './Waterfall.module.css';

/** A deeper one is indented no more: its name must have room. */
const deepest = 14;
const indent = 14;

/** The part of the trace that the axis shows, in microseconds. */
export interface Window {
  from: number;
  to: number;
}

/** Shapes of the types: color is for outcomes and the model's share. */
const Glyph = ({ type }: Pick<TraceSpan, 'type'>) => (
  <svg width="10" height="10" aria-hidden="true" className={css.glyph}>
    {type === 'agent' && (
      <path d="M5 .8 9.2 5 5 9.2.8 5Z" fill="none" stroke="var(--text-2)" strokeWidth="1.4" />
    )}
    {type === 'model' && <circle cx="5" cy="5" r="4" fill="var(--accent)" />}
    {type === 'tool' && <rect x="1.2" y="1.2" width="7.6" height="7.6" rx="1.5" fill="var(--text-3)" />}
    {type === 'other' && <circle cx="5" cy="5" r="1.8" fill="var(--text-3)" />}
  </svg>
);

const Chevron = () => (
  <svg width="8" height="8" aria-hidden="true">
    <path d="M2.5 1 6 4 2.5 7" fill="none" stroke="currentColor" strokeWidth="1.5" />
  </svg>
);

/** A part of the grid, which has the focus and the keys of all of them. */
export const Cell = ({ role = 'gridcell', ...more }: HTMLAttributes<HTMLDivElement>) => (
  <div role={role} {...more} />
);

interface RowProps {
  node: TreeNode;
  index: number;
  id: string;
  start: number;
  window: Window;
  isFolded: boolean;
  isChosen: boolean;
  isActive: boolean;
  isDimmed: boolean;
  onChoose: (node: TreeNode) => void;
  onFold: (node: TreeNode) => void;
}

/** Not rendered again while others scroll into view. */
export const Row = memo(({ node, index, id, start, window, onChoose, onFold, ...is }: RowProps) => {
  const { span, depth, children, below, failedBelow, isCutOff } = node;
  const length = window.to - window.from;
  const left = ((span.offset_us - window.from) / length) * 100;
  const width = (span.duration_us / length) * 100;
  const failed = span.status === 'error';
  return (
    <Cell
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-selected={is.isChosen}
      aria-expanded={children.length === 0 ? undefined : !is.isFolded}
      className={cx(
        css.row,
        css[span.type],
        failed && css.error,
        is.isChosen && css.chosen,
        is.isActive && css.active,
        is.isDimmed && css.dimmed,
      )}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => onChoose(node)}
    >
      <Cell className={css.name} style={{ paddingLeft: Math.min(depth, deepest) * indent }}>
        <span
          className={cx(css.fold, children.length > 0 && !is.isFolded && css.open)}
          onClick={(event) => {
            if (children.length === 0) return;
            event.stopPropagation();
            onFold(node);
          }}
          aria-hidden="true"
        >
          {children.length > 0 && <Chevron />}
        </span>
        {failed ? <Mark kind="missing" /> : <Glyph type={span.type} />}
        <span className={css.text} title={isCutOff ? `${span.name} (${words.cutOff})` : span.name}>
          {span.name || words.unnamed}
        </span>
        {failed && <span className="visually-hidden">{words.failed}</span>}
        {is.isFolded && below > 0 && (
          <span className={cx(css.count, failedBelow > 0 && css.failedBelow)}>{words.below(below)}</span>
        )}
      </Cell>
      <Cell className={css.track}>
        <span className={css.span} style={{ left: `${left}%`, width: `max(2px, ${width}%)` }} />
      </Cell>
      <Cell className={cx(css.numeric, css.fact)}>{words.micros(span.duration_us)}</Cell>
      <Cell className={cx(css.numeric, css.fact, css.tokens)}>
        {span.tokens === null ? '' : number(span.tokens)}
      </Cell>
      <Cell className={cx(css.numeric, css.fact, css.cost)}>
        {span.cost_nano_usd === null ? '' : usd(span.cost_nano_usd)}
      </Cell>
    </Cell>
  );
});
