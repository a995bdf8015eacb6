import { useOperation, usePermission } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { permissionReason } from '../ui/index.ts';

/** The LLM configurations as options, and why a person may not choose one. */
export const useLlmOptions = (isShown = true) => {
  const permission = usePermission('listLlmConfigurations');
  const query = { limit: 100 };
  const got = useOperation('listLlmConfigurations', {}, { query, enabled: isShown && permission.allowed });
  return {
    reason: permissionReason(permission),
    options: (got.data?.data ?? []).map(({ id, name, model }) => ({ value: id, label: name, note: model })),
    nothing: got.loading ? common.loading : undefined,
  };
};
