import { to } from '../routing/to.ts';

/** The address of a thing's page, by the type that the search and the audit log give; null if it has none. */
export const hrefOfThing = (type: string, id: string, agentId?: string | null): string | null => {
  switch (type) {
    case 'agent':
      return to('/agents/$agentId', { agentId: id });
    case 'work_item':
      return to('/work-items/$workItemId', { workItemId: id });
    case 'schedule':
      return agentId
        ? to('/agents/$agentId/schedules/$scheduleId', { agentId, scheduleId: id })
        : to('/schedules/$scheduleId', { scheduleId: id });
    case 'trigger':
      return agentId
        ? to('/agents/$agentId/triggers/$triggerId', { agentId, triggerId: id })
        : to('/triggers/$triggerId', { triggerId: id });
    case 'event_connection':
      return to('/event-connections/$eventConnectionId', { eventConnectionId: id });
    case 'conversation':
      return agentId
        ? to('/agents/$agentId/conversations/$conversationId', { agentId, conversationId: id })
        : null;
    case 'integration':
      return to('/integrations/$integrationId', { integrationId: id });
    case 'llm_configuration':
      return to('/llm-configurations/$llmId', { llmId: id });
    case 'tool_server':
      return to('/tool-servers/$toolServerId', { toolServerId: id });
    case 'data_connection':
      return to('/data-connections/$dataConnectionId', { dataConnectionId: id });
    case 'semantic_data_model':
      return to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: id });
    case 'budget':
      return to('/budgets/$budgetId', { budgetId: id });
    case 'alert':
      return to('/alerts/$alertId', { alertId: id });
    case 'alert_rule':
      return to('/alert-rules/$alertRuleId', { alertRuleId: id });
    case 'channel':
      return to('/channels/$channelId', { channelId: id });
    case 'extraction':
      return to('/extractions/$extractionId', { extractionId: id });
    default:
      return null;
  }
};
