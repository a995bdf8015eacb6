import { useEffect, useRef } from 'react';
import type { Extraction } from '../../api/types.gen.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { cx } from '../../ui/index.ts';
import css from './extractions.module.css';
import type { Leaf } from './values.ts';

type ShownPage = NonNullable<Extraction['pages']>[number];
type Citation = Leaf['citations'][number];
type Box = NonNullable<Citation['bbox']>;

interface PageProps {
  page: ShownPage;
  /** The place of the chosen value, if it is on this page. */
  chosen: Citation | null;
  leaf: Leaf;
  leaves: readonly Leaf[];
  hrefOf: (pointer: string) => string;
}

/** The width of the drawing, in its own unit. */
const width = 1_000;
/** More lines make a page slow. */
const maxLines = 600;
const shownCharacters = 500;

/** A page that is very high or very flat is drawn within these. */
const heightOf = (aspect: number): number => Math.min(Math.max(width / aspect, 200), 4_000);

/** The usual width of a letter, as a part of its height. */
const letterWidth = 0.52;

/** Text that fills the width of its box: the size of its letters is a guess, near the height of the box. */
const BoxText = ({ text, bbox, height }: { text: string; bbox: Box; height: number }) => {
  const shown = text.slice(0, shownCharacters);
  const [length, high] = [bbox.width * width, bbox.height * height];
  const size = Math.min(Math.max(length / (shown.length * letterWidth), high * 0.7), high * 1.3, 90);
  return (
    <text
      x={bbox.left * width}
      y={(bbox.top + bbox.height) * height - high * 0.2}
      style={{ fontSize: Math.max(size, 4) }}
      textLength={length > 1 ? length : undefined}
      lengthAdjust="spacingAndGlyphs"
    >
      {shown}
    </text>
  );
};

const Frame = ({
  bbox,
  height,
  className,
}: {
  bbox: Citation['bbox'];
  height: number;
  className?: string | undefined;
}) =>
  bbox && (
    <rect
      x={bbox.left * width - 4}
      y={bbox.top * height - 3}
      width={bbox.width * width + 8}
      height={bbox.height * height + 6}
      rx={3}
      className={className}
    />
  );

/** The page to scale, of its lines and their places: text nodes only. */
const DrawnPage = ({ page, chosen, leaf, leaves, hrefOf }: PageProps) => {
  const height = heightOf(page.aspect!);
  const frame = useRef<HTMLDivElement>(null);
  const middle = chosen?.bbox ? chosen.bbox.top + chosen.bbox.height / 2 : null;
  const left = chosen?.bbox?.left ?? 0;
  useEffect(() => {
    const box = frame.current;
    if (!box || middle === null) return;
    box.scrollTop = middle * box.scrollHeight - box.clientHeight / 2;
    // On a phone the page is wider than the screen.
    box.scrollLeft = left * box.scrollWidth - 40;
  }, [middle, left]);
  const others = leaves.filter(({ pointer }) => pointer !== leaf.pointer);
  return (
    <div ref={frame} className={css.frame} role="group" tabIndex={0} aria-label={words.document}>
      <svg
        className={css.page}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={words.pageDrawing(page.page)}
      >
        <rect width={width} height={height} className={css.paper} />
        {others.map(({ pointer, name, citations }) =>
          citations
            .filter((citation) => citation.page === page.page && citation.bbox)
            .slice(0, 1)
            .map((citation) => (
              // The list of values is the way of the keyboard.
              <a key={pointer} href={hrefOf(pointer)} tabIndex={-1} aria-label={words.other(name)}>
                <Frame bbox={citation.bbox} height={height} className={css.other} />
              </a>
            )),
        )}
        {chosen && <Frame bbox={chosen.bbox} height={height} className={css.chosenFill} />}
        <g className={css.lines}>
          {page.lines.slice(0, maxLines).map(
            (line, index) =>
              line.bbox &&
              (line.parts ?? [{ text: line.text, bbox: line.bbox }]).map(({ text, bbox }) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place.
                <BoxText key={`${index} ${bbox.left}`} text={text} bbox={bbox} height={height} />
              )),
          )}
        </g>
        {chosen?.bbox && (
          <g>
            <title>{words.chosen(String(leaf.value).slice(0, shownCharacters))}</title>
            <Frame bbox={chosen.bbox} height={height} className={css.chosen} />
          </g>
        )}
      </svg>
    </div>
  );
};

/** The lines in order, for what has no layout: DOCX, sheets, text. */
const LineList = ({ page, chosen }: PageProps) => {
  const list = useRef<HTMLOListElement>(null);
  const cited = chosen ? chosen.line - 1 : 0;
  const from = Math.max(0, Math.min(cited - maxLines / 2, page.lines.length - maxLines));
  const lines = page.lines.slice(from, from + maxLines);
  useEffect(() => {
    const line = list.current?.children[cited - from] as HTMLElement | undefined;
    const box = list.current;
    if (line && box) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  }, [cited, from]);
  return (
    <ol ref={list} className={css.lineList} start={from + 1} tabIndex={0} aria-label={words.document}>
      {lines.map((line, index) => {
        const isCited = chosen !== null && from + index === cited;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their number.
          <li key={index} className={cx(isCited && css.cited)} value={from + index + 1}>
            {isCited ? (
              <mark>{line.text.slice(0, shownCharacters)}</mark>
            ) : (
              line.text.slice(0, shownCharacters)
            )}
          </li>
        );
      })}
    </ol>
  );
};

/** A page as the reader found it: drawn to scale if its lines have places, as a list of lines if not. */
export const PageView = (props: PageProps) => {
  const { page } = props;
  if (page.lines.length === 0) return <p className={css.emptyPage}>{words.pageEmpty}</p>;
  const left = page.lines.length - maxLines;
  const isDrawn = page.aspect !== null && page.lines.some(({ bbox }) => bbox !== null);
  return (
    <>
      {isDrawn ? <DrawnPage {...props} /> : <LineList {...props} />}
      {left > 0 && <p className={css.emptyPage}>{words.linesLeftOut(left)}</p>}
    </>
  );
};
