import { useEffect, useState } from 'react';
import { usePostQuery } from '../../../api/index.ts';

/** Returns `value` as it was when it had not changed for `milliseconds`. */
const useSettled = <T>(value: T, milliseconds: number): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
};

/** The next times of an expression; what is typed is sent when the person pauses. */
export const usePreview = (expression: string | null, timezone: string, typed: boolean) => {
  const settled = useSettled(expression, 300);
  const asked = typed ? settled : expression;
  return usePostQuery(
    'previewSchedule',
    {},
    asked === null ? null : { cron_expression: asked, timezone, count: 40 },
  );
};
