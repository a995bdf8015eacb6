import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { Trace } from '../api/types.gen.ts';
import { useUrlState } from '../routing/url-state.ts';
import { traces as words } from '../text/en/traces.ts';
import { Muted } from '../ui/index.ts';
import { SpanPanel } from './SpanPanel.tsx';
import css from './TraceView.module.css';
import { rowsOf, treesOf } from './tree.ts';
import { Waterfall } from './Waterfall.tsx';

/** The waterfall of a trace, and the span of it that is open, which is in the address. */
export const TraceView = ({ trace }: { trace: Trace }) => {
  const { search, replace } = useUrlState<{ span?: string }>();
  const rows = useMemo(() => rowsOf(treesOf(trace.spans), new Set()), [trace.spans]);
  const node = rows.find(({ span }) => span.span_id === search.span) ?? rows[0];
  const chosen = node?.span.span_id;
  // The function that changes the address is another one each time, and rows must not be rendered for that.
  const latest = useRef(replace);
  useEffect(() => {
    latest.current = replace;
  });
  const onChoose = useCallback((span: string) => latest.current({ span }), []);
  return (
    <div className={css.frame}>
      <div className={css.view}>
        <div>
          <Waterfall key={trace.trace_id} spans={trace.spans} chosen={chosen} onChoose={onChoose} />
          <div className={css.notes}>
            {trace.has_more && <Muted small>{words.partial(trace.spans.length, trace.span_count)}</Muted>}
            {trace.missing_parents.length > 0 && (
              <Muted small>{words.missingParents(trace.missing_parents.length)}</Muted>
            )}
          </div>
        </div>
        {node && <SpanPanel traceId={trace.trace_id} span={node.span} node={node} onChoose={onChoose} />}
      </div>
    </div>
  );
};
