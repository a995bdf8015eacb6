import type { RoleMappings } from '../access/index.ts';
import type { Agents } from '../agents/index.ts';
import type { Alerts } from '../alerts/index.ts';
import type { Budgets } from '../budgets/index.ts';
import type { Channels } from '../channels/index.ts';
import type { DataConnections } from '../data-connections/index.ts';
import type { DocumentIntelligence } from '../document-intelligence/index.ts';
import type { Evaluation } from '../evaluation/index.ts';
import type { EventConnections } from '../event-connections/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Observability } from '../observability/index.ts';
import type { Prices } from '../prices/index.ts';
import type { Schedules } from '../schedules/index.ts';
import type { SemanticDataModels } from '../semantic-data-models/index.ts';
import type { SettingsFeature } from '../settings/index.ts';
import type { ToolServers } from '../tool-servers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import { agentKind } from './kinds/agents.ts';
import { alertRuleKind } from './kinds/alert-rules.ts';
import { budgetKind } from './kinds/budgets.ts';
import { channelKind, routeKind } from './kinds/channels.ts';
import { dataConnectionKind, eventConnectionKind, semanticDataModelKind } from './kinds/data.ts';
import { datasetKind } from './kinds/datasets.ts';
import { integrationKind } from './kinds/integrations.ts';
import { llmKind } from './kinds/llm-configurations.ts';
import { priceKind } from './kinds/prices.ts';
import { roleMappingKind } from './kinds/role-mappings.ts';
import { scheduleKind } from './kinds/schedules.ts';
import { brandingKind, defaultLlmKind, documentIntelligenceKind, settingsKind } from './kinds/singles.ts';
import { toolServerKind } from './kinds/tool-servers.ts';
import { triggerKind } from './kinds/triggers.ts';
import { workspaceRoutes } from './routes.ts';
import { createWorkspaceRules } from './workspace.ts';

interface Needs {
  settings: SettingsFeature;
  llms: LlmConfigurations;
  prices: Prices;
  budgets: Budgets;
  toolServers: ToolServers;
  dataConnections: DataConnections;
  eventConnections: EventConnections;
  semanticDataModels: SemanticDataModels;
  evaluation: Evaluation;
  agents: Agents;
  schedules: Schedules;
  triggers: Triggers;
  observability: Observability;
  alerts: Alerts;
  channels: Channels;
  roleMappings: RoleMappings;
  documentIntelligence: DocumentIntelligence;
}

/** Workspace as code: what the workspace holds as one document, which is exported, planned and applied. */
export const createWorkspace = ({ db }: Pick<Services, 'db'>, needs: Needs): Feature => {
  const { roleMappings } = needs;
  const kinds = [
    settingsKind(needs.settings),
    brandingKind,
    llmKind(needs.llms),
    defaultLlmKind(needs.llms),
    priceKind(needs.prices),
    toolServerKind(needs.toolServers),
    dataConnectionKind(needs.dataConnections),
    eventConnectionKind(needs.eventConnections),
    semanticDataModelKind(needs.semanticDataModels),
    datasetKind(needs.evaluation),
    agentKind(needs.agents),
    scheduleKind(needs.schedules),
    triggerKind(needs.triggers.changes),
    budgetKind(needs.budgets),
    integrationKind(needs.observability),
    alertRuleKind(needs.alerts),
    channelKind(needs.channels.changes),
    routeKind(needs.channels.changes),
    roleMappingKind(roleMappings),
    documentIntelligenceKind(needs.documentIntelligence),
  ];
  return {
    tag: { name: 'Workspace', description: 'What the workspace holds as one document.' },
    routes: workspaceRoutes(createWorkspaceRules({ db, kinds, roleMappings })),
  };
};
