import type { configuration as source } from '../en/configuration.ts';
import type { Translated } from '../translated.ts';

export const configuration: Translated<typeof source> = {
  theHistoryCannotBeShown: '无法显示历史',
  noChangesYet: '还没有更改',
  eachChangeOfAnIdentityProviderIs: '身份提供商的每次更改都保留在此处并可撤销。由环境设置的内容没有历史。',
  time: '时间',
  configuration: '配置',
  restoreTheConfigurationOf: '恢复 {createTime} 的配置',
  restore: '恢复…',
  restoreThisConfiguration: '恢复此配置？',
  restoreTitle: '恢复',
  theConfigurationWasRestored: '配置已恢复。',
  theseLinesReplaceThePresentOnesThe: '这些行会替换当前的行。当前的行保留在历史中。',
  subsystems: '子系统',
  history: '历史',
  theConfigurationCannotBeShown: '无法显示配置',
  filterSubsystems: '筛选子系统',
  changeItOnThePageOfThe: '在身份提供商页面更改',
  variable: '变量',
  value: '值',
  notSet: '未设置',
  environment: '环境',
};
