/**
 * The name of a schedule: that of its Work Items, or else its times in words, or its expression where no one has put
 * them in words.
 */
export const nameOf = ({
  work_item_name,
  description,
  cron_expression,
}: {
  work_item_name: string | null;
  description?: string | undefined;
  cron_expression: string;
}): string => work_item_name?.trim() || description || cron_expression;
