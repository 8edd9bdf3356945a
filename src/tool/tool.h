/*
 * The command-line tool `tesela`. Each command parses its own arguments with argp and returns the tool's exit status.
 * The manual pages in docs/user describe them, and completion.bash and completion.zsh complete them; keep all equal.
 */
#ifndef TSL_TOOL_TOOL_H
#define TSL_TOOL_TOOL_H

/* argv[0] is the command's name in messages ("tesela run"). */
int tsl_tool_info(int argc, char **argv);
int tsl_tool_run(int argc, char **argv);
int tsl_tool_report(int argc, char **argv);
int tsl_tool_meters(int argc, char **argv);
int tsl_tool_compare(int argc, char **argv);
int tsl_tool_doctor(int argc, char **argv);

#endif
