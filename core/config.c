/* SPDX-License-Identifier: MIT */
#include "core/config.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "core/config_priv.h"
#include "core/mem.h"

enum { FILE_MAX_BYTES = 1024 * 1024, NAME_MAX_BYTES = 128 };

struct config {
	const struct config_key *keys; /* the table, static */
	size_t n;
	char **values; /* owned, n of them, never NULL */
};

/* Where a setting stands, for messages and relative paths. */
struct place {
	const char *file; /* NULL: in the environment */
	unsigned line;
	struct buffer *why; /* borrowed */
};

static size_t find(const struct config *config, struct slice name)
{
	size_t i = 0;

	while (i < config->n && !slice_eq(slice_of(config->keys[i].name), name))
		i++;
	return i;
}

static int complain(const struct place *place, const char *what)
{
	if (place->file)
		buffer_printf(place->why, "%s:%u: %s", place->file, place->line,
			      what);
	else
		buffer_printf(place->why, "environment: %s", what);
	return -EINVAL;
}

static char *resolve(const char *file, struct slice value)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	struct buffer path;

	if (!slash || !value.len || value.ptr[0] == '/')
		return slice_dup(value);
	buffer_init(&path, FILE_MAX_BYTES * 2);
	buffer_add(&path, slice_make(file, (size_t)(slash - file) + 1));
	buffer_add(&path, value);
	return buffer_take(&path);
}

static int set(struct config *config, const struct place *place,
	       struct slice name, struct slice value)
{
	size_t i = find(config, name);
	const struct config_key *key = &config->keys[i];
	struct buffer what;
	int err = 0;

	buffer_init(&what, 4096);
	if (i == config->n) {
		const char *near =
			config_nearest(config->keys, config->n, name);

		buffer_printf(&what, "unknown setting %.*s; the nearest is %s",
			      (int)name.len, name.ptr, near);
		err = complain(place, buffer_str(&what));
	} else if (config_check(key, value, &what)) {
		err = complain(place, buffer_str(&what));
	} else {
		mem_free(config->values[i]);
		config->values[i] =
			resolve(key->is_path ? place->file : NULL, value);
	}
	buffer_reset(&what);
	return err;
}

/* "[section]": its name, or empty. */
static struct slice section_of(struct slice line)
{
	if (line.len < 3 || line.ptr[line.len - 1] != ']')
		return slice_make(NULL, 0);
	return slice_trim(slice_make(line.ptr + 1, line.len - 2));
}

static int read_setting(struct config *config, const struct place *place,
			struct slice section, struct slice line)
{
	struct slice key = slice_trim(slice_cut(&line, '='));
	char name[NAME_MAX_BYTES];
	size_t len = section.len + 1 + key.len;

	if (!line.ptr || !key.len)
		return complain(place, "neither [section] nor key = value");
	if (!section.len)
		return complain(place, "a setting before the first [section]");
	if (len > sizeof(name))
		return complain(place, "a name that is too long");
	memcpy(name, section.ptr, section.len);
	name[section.len] = '.';
	memcpy(name + section.len + 1, key.ptr, key.len);
	return set(config, place, slice_make(name, len), slice_trim(line));
}

static int read_line(struct config *config, const struct place *place,
		     struct slice *section, struct slice line)
{
	if (line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	line = slice_trim(line);
	if (!line.len || line.ptr[0] == '#' || line.ptr[0] == ';')
		return 0;
	if (slice_find(line, '\0') >= 0)
		return complain(place, "a NUL byte");
	if (line.ptr[0] != '[')
		return read_setting(config, place, *section, line);
	*section = section_of(line);
	return section->len ? 0 : complain(place, "not a [section]");
}

static int load(struct buffer *text, const char *file, struct buffer *why)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	char piece[4096];
	ssize_t n = -1;
	int err = 0;

	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		buffer_add(text, slice_make(piece, (size_t)n));
	if (n < 0)
		err = -errno;
	else if (buffer_error(text))
		err = -EFBIG;
	if (fd >= 0)
		close(fd);
	if (err)
		buffer_printf(why, "%s: %s", file, strerror(-err));
	return err;
}

static int read_file(struct config *config, const char *file,
		     struct buffer *why)
{
	struct place place = { .file = file, .why = why };
	struct slice section = { NULL, 0 }, rest;
	struct buffer text;
	int err;

	buffer_init(&text, FILE_MAX_BYTES);
	err = load(&text, file, why);
	rest = buffer_slice(&text);
	while (!err && rest.len) {
		place.line++;
		err = read_line(config, &place, &section,
				slice_cut(&rest, '\n'));
	}
	buffer_reset(&text);
	return err;
}

/* What the admin command reads; no settings. */
static bool is_for_tool(struct slice key)
{
	return slice_eq(key, SLICE("CONFIG")) || slice_eq(key, SLICE("KEY"));
}

/* PARLEY_SIP_CA_FILE is sip.ca_file: the section ends at the first "_". */
static int read_variable(struct config *config, const struct place *place,
			 struct slice variable)
{
	struct slice key = slice_cut(&variable, '=');
	char name[NAME_MAX_BYTES];
	ptrdiff_t cut;
	size_t i;

	if (!slice_has_prefix(key, SLICE("PARLEY_")))
		return 0;
	key = slice_make(key.ptr + 7, key.len - 7);
	if (is_for_tool(key))
		return 0;
	if (key.len > sizeof(name))
		return complain(place, "a PARLEY_ name that is too long");
	for (i = 0; i < key.len; i++)
		name[i] = (char)tolower((unsigned char)key.ptr[i]);
	cut = slice_find(slice_make(name, key.len), '_');
	if (cut >= 0)
		name[cut] = '.';
	return set(config, place, slice_make(name, key.len), variable);
}

static int read_environment(struct config *config, char *const *env,
			    struct buffer *why)
{
	const struct place place = { .why = why };
	int err = 0;

	for (; env && *env && !err; env++)
		err = read_variable(config, &place, slice_of(*env));
	return err;
}

static int check_together(const struct config *config, struct buffer *why)
{
	if (config_number(config, "media.port_min") <
	    config_number(config, "media.port_max"))
		return 0;
	buffer_add_str(why, "media.port_min must be below media.port_max");
	return -EINVAL;
}

int config_open(struct config **out, const char *file, char *const *env,
		struct buffer *why)
{
	struct config *config = mem_new(sizeof(*config));
	size_t i;
	int err = 0;

	config->keys = config_keys(&config->n);
	config->values = mem_new_array(config->n, sizeof(config->values[0]));
	for (i = 0; i < config->n; i++)
		config->values[i] =
			resolve(config->keys[i].is_path ? file : NULL,
				slice_of(config->keys[i].preset));
	if (file)
		err = read_file(config, file, why);
	if (!err)
		err = read_environment(config, env, why);
	if (!err)
		err = check_together(config, why);
	if (err)
		config_close(&config);
	*out = config;
	return err;
}

void config_close(struct config **config)
{
	size_t i;

	if (!*config)
		return;
	for (i = 0; i < (*config)->n; i++)
		mem_free((*config)->values[i]);
	mem_free((*config)->values);
	mem_free(*config);
	*config = NULL;
}

static const char *value_of(const struct config *config, const char *name,
			    const struct config_key **key)
{
	size_t i = find(config, slice_of(name));

	assert(i < config->n);
	*key = &config->keys[i];
	return config->values[i];
}

const char *config_text(const struct config *config, const char *name)
{
	const struct config_key *key;

	return value_of(config, name, &key);
}

int64_t config_number(const struct config *config, const char *name)
{
	const struct config_key *key;
	const char *value = value_of(config, name, &key);
	int64_t number = 0;
	int err;

	assert(key->type == CONFIG_NUMBER);
	err = config_to_number(&number, slice_of(value));
	assert(!err);
	return number;
}

bool config_bool(const struct config *config, const char *name)
{
	const struct config_key *key;
	const char *value = value_of(config, name, &key);
	bool is_on = false;
	int err;

	assert(key->type == CONFIG_BOOL);
	err = config_to_bool(&is_on, slice_of(value));
	assert(!err);
	return is_on;
}
