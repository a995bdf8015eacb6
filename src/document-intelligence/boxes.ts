import type { Box } from '../sandbox/index.ts';

/** The box around some boxes, of which there is at least one. */
export const around = (boxes: readonly Box[]): Box => {
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  return {
    left,
    top,
    width: Math.max(...boxes.map((box) => box.left + box.width)) - left,
    height: Math.max(...boxes.map((box) => box.top + box.height)) - top,
  };
};
