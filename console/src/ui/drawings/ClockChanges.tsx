import { useId } from 'react';
import { ui } from '../../text/en/ui.ts';
import { clockTime } from '../../time/format.ts';
import type { Axis, ClockChange } from './clock-changes.ts';
import css from './drawings.module.css';

const wall = (milliseconds: number): string => clockTime(new Date(milliseconds), 'UTC');

interface Props {
  changes: readonly ClockChange[];
  axis: Axis;
  top: number;
  bottom: number;
  /** As wide as the drawing, so that a label at its end is not cut. */
  width: number;
}

/**
 * The hours that a clock leaves out, hatched, and those that it shows twice, both next to each other with a line between
 * them. A label below says which.
 */
export const ClockChanges = ({ changes, axis, top, bottom, width }: Props) => {
  const id = useId();
  return (
    <>
      <defs>
        <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0V6" className={css.hatch} />
        </pattern>
      </defs>
      {changes.map((change) => {
        const { at, step, wallFrom, wallTo } = change;
        const gap = step > 0;
        const left = gap ? axis.x(at) - axis.gap(change) : axis.x(at + step);
        const right = gap ? axis.x(at) : axis.x(at - step);
        const text = (gap ? ui.clockGap : ui.clockTwice)(wall(wallFrom), wall(wallTo));
        const middle = (left + right) / 2;
        const half = text.length * 3;
        const end = middle > width - half;
        return (
          <g key={at}>
            <rect
              x={left}
              y={top}
              width={right - left}
              height={bottom - top}
              className={gap ? undefined : css.twice}
              fill={gap ? `url(#${id})` : undefined}
            />
            <path d={`M${left} ${top}V${bottom}M${right} ${top}V${bottom}`} className={css.edge} />
            {!gap && <path d={`M${axis.x(at)} ${top}V${bottom}`} className={css.again} />}
            <text
              x={end ? width : Math.max(0, middle)}
              y={bottom + 13}
              textAnchor={end ? 'end' : middle < half ? 'start' : 'middle'}
            >
              {text}
            </text>
          </g>
        );
      })}
    </>
  );
};
