/*
 * The folder of Tesela's own .icd file: a loader that is pointed to it sees Tesela and no other vendor.
 */
#ifndef TSL_TOOL_ICD_FOLDER_H
#define TSL_TOOL_ICD_FOLDER_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

/*
 * The folder's absolute path (heap): icd/ beside the tool in a build tree, else its place relative to the tool in an
 * installation. NULL, with a sentence on standard error, if neither has a tesela.icd whose library exists.
 */
char *tsl_icd_folder_find(void);

/* The same for a folder that the user names. */
char *tsl_icd_folder_check(const char *folder);

/* The folder of this program's file, without the closing slash. False: it can't be told. */
bool tsl_tool_folder(char folder[PATH_MAX]);

/* The library of the folder that tsl_icd_folder_find() finds, without a word where there is none. */
bool tsl_icd_folder_own_library(char library[PATH_MAX]);

/* For scandir: is it an .icd file, of whatever vendor? 0: no. */
int tsl_icd_folder_is_icd(const struct dirent *entry);

/* The library that the folder's tesela.icd names. A name without a folder, as the wheel has it, is that of the library
 * two folders above where there is one. False if there is no tesela.icd. */
bool tsl_icd_folder_library(const char *folder, char library[PATH_MAX]);

#define TSL_ICD_VARIABLE (PATH_MAX + 32)

/*
 * What makes loaders see that folder's Tesela alone: "OCL_ICD_VENDORS=...", and "OCL_ICD_FILENAMES=...", which is ""
 * where the variable is to be unset. Loaders take a tesela.icd only if it has the library's whole path. Where it
 * hasn't, both name the library itself, the first for Debian's loader, the second for Khronos'.
 */
void tsl_icd_folder_variables(const char *folder, char vendors[TSL_ICD_VARIABLE], char filenames[TSL_ICD_VARIABLE]);

#endif
