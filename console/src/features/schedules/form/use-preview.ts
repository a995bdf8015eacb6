import { usePostQuery } from '../../../api/index.ts';
import { useSettled } from '../../../resource/settled.ts';

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
