import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { TraceSpan } from '../api/types.gen.ts';
import { traces as words } from '../text/en/traces.ts';
import { Box, Button, cx, durationTicks, Section, TextField } from '../ui/index.ts';
import { firstFolded, matchingRows, rowsOf, type TreeNode, treesOf, unfoldedTo } from './tree.ts';
import css from './Waterfall.module.css';
import { Cell, Row, type Window } from './WaterfallRow.tsx';

const rowHeight = 28;

/** `text` in lower case. */
const isMatch = ({ name, model, error_type }: TraceSpan, text: string): boolean =>
  text === '' || [name, model, error_type].some((each) => each?.toLowerCase().includes(text));

const endOf = (spans: readonly TraceSpan[]): number =>
  spans.reduce((end, { offset_us, duration_us }) => Math.max(end, offset_us + duration_us), 1);

/** The spans of a trace as a tree on one axis of time. Only rows in view are rendered. */
export const Waterfall = ({
  spans,
  chosen,
  onChoose,
}: {
  spans: readonly TraceSpan[];
  /** The id of the span that is open next to it. */
  chosen: string | undefined;
  onChoose: (spanId: string) => void;
}) => {
  const roots = useMemo(() => treesOf(spans), [spans]);
  const all = useMemo(() => rowsOf(roots, new Set()), [roots]);
  const branches = useMemo(() => all.filter(({ children }) => children.length > 0), [all]);
  const end = useMemo(() => endOf(spans), [spans]);
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => firstFolded(spans, roots, chosen));
  const [find, setFind] = useState('');
  const [zoomed, setZoomed] = useState<Window | null>(null);
  const [active, setActive] = useState(chosen);
  const box = useRef<HTMLDivElement>(null);
  const window = useMemo(() => zoomed ?? { from: 0, to: end * 1.02 }, [zoomed, end]);
  const text = useDeferredValue(find.trim().toLowerCase());
  const rows = useMemo(
    () => (text === '' ? rowsOf(roots, folded) : matchingRows(all, (span) => isMatch(span, text))),
    [roots, all, folded, text],
  );
  const errors = useMemo(() => spans.filter(({ status }) => status === 'error'), [spans]);
  const costly = useMemo(() => spans.some(({ cost_nano_usd }) => cost_nano_usd !== null), [spans]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: rowHeight,
  });
  const at = rows.findIndex(({ span }) => span.span_id === active);
  const idOf = (spanId: string): string => `span-row-${spanId}`;

  const fold = useCallback(
    ({ span }: TreeNode): void =>
      setFolded((before) => {
        const next = new Set(before);
        if (!next.delete(span.span_id)) next.add(span.span_id);
        return next;
      }),
    [],
  );
  const choose = useCallback(
    ({ span }: TreeNode): void => {
      setActive(span.span_id);
      onChoose(span.span_id);
    },
    [onChoose],
  );
  const go = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row) setActive(row.span.span_id);
  };
  const zoom = (node: TreeNode | undefined): void => {
    if (!node) return;
    const { offset_us: from, duration_us } = node.span;
    setZoomed({ from, to: from + Math.max(duration_us, 1) * 1.02 });
  };
  const goToError = (): void => {
    const failed = all.filter(({ span }) => span.status === 'error');
    const next = failed[(failed.findIndex(({ span }) => span.span_id === active) + 1) % failed.length]!;
    setFind('');
    setFolded(unfoldedTo(folded, roots, next.span.span_id));
    choose(next);
  };
  // The active row comes into view, also if it was chosen by the address or an error.
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
  }, [at, virtual]);

  const keys: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at < 0 ? 0 : at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    PageDown: () => go(at + 12),
    PageUp: () => go(at - 12),
    ArrowRight: () => {
      const row = rows[at];
      if (!row || row.children.length === 0) return;
      if (folded.has(row.span.span_id) && text === '') fold(row);
      else go(at + 1);
    },
    ArrowLeft: () => {
      const row = rows[at];
      if (!row) return;
      if (row.children.length > 0 && !folded.has(row.span.span_id) && text === '') fold(row);
      else if (row.parent) setActive(row.parent.span.span_id);
    },
    Enter: () => rows[at] && choose(rows[at]),
    ' ': () => rows[at] && choose(rows[at]),
    z: () => zoom(rows[at]),
    Escape: () => setZoomed(null),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <Section title={words.waterfall}>
      <Box>
        <div className={css.bar}>
          <div className={css.find}>
            <TextField
              label={words.find}
              hiddenLabel
              placeholder={words.find}
              value={find}
              onChange={setFind}
            />
          </div>
          {errors.length > 0 && (
            <Button small onClick={goToError}>
              {words.nextError(errors.length)}
            </Button>
          )}
          <div className={css.end}>
            {zoomed && (
              <Button small kind="quiet" onClick={() => setZoomed(null)}>
                {words.whole}
              </Button>
            )}
            {!zoomed && at >= 0 && (
              <Button small kind="quiet" onClick={() => zoom(rows[at])}>
                {words.zoom}
              </Button>
            )}
            {branches.length > 1 && (
              <Button
                small
                kind="quiet"
                onClick={() =>
                  setFolded(folded.size > 0 ? new Set() : new Set(branches.map(({ span }) => span.span_id)))
                }
              >
                {folded.size > 0 ? words.unfoldAll : words.foldAll}
              </Button>
            )}
          </div>
        </div>
        <div
          ref={box}
          role="treegrid"
          aria-label={words.waterfall}
          aria-rowcount={rows.length + 1}
          aria-activedescendant={at < 0 ? undefined : idOf(rows[at]!.span.span_id)}
          aria-describedby="waterfall-keys"
          tabIndex={0}
          className={cx(css.grid, costly && css.costly)}
          onKeyDown={onKeyDown}
          onFocus={() => at < 0 && go(0)}
        >
          <div role="rowgroup">
            <Cell role="row" aria-rowindex={1} className={css.head}>
              <Cell role="columnheader">{words.columns.span}</Cell>
              <Cell role="columnheader" aria-label={words.columns.time} className={css.axis}>
                {durationTicks((window.to - window.from) / 1_000, 4).map((tick) => (
                  <span
                    key={tick.at}
                    aria-hidden="true"
                    style={{ left: `${(tick.at / (window.to - window.from)) * 100_000}%` }}
                  >
                    {tick.label}
                  </span>
                ))}
              </Cell>
              <Cell role="columnheader" className={css.numeric}>
                {words.columns.took}
              </Cell>
              <Cell role="columnheader" className={cx(css.numeric, css.tokens)}>
                {words.columns.tokens}
              </Cell>
              <Cell role="columnheader" className={cx(css.numeric, css.cost)}>
                {words.columns.cost}
              </Cell>
            </Cell>
          </div>
          <div role="rowgroup" className={css.rows} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const node = rows[index]!;
              const { span_id } = node.span;
              return (
                <Row
                  key={span_id}
                  id={idOf(span_id)}
                  node={node}
                  index={index}
                  start={start}
                  window={window}
                  isFolded={text === '' && folded.has(span_id)}
                  isChosen={span_id === chosen}
                  isActive={span_id === active}
                  isDimmed={!isMatch(node.span, text)}
                  onChoose={choose}
                  onFold={fold}
                />
              );
            })}
          </div>
        </div>
        {rows.length === 0 && <p className={css.note}>{words.noMatch}</p>}
        <p id="waterfall-keys" className="visually-hidden">
          {words.hint}
        </p>
      </Box>
    </Section>
  );
};
