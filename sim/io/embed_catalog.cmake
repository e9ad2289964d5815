# Writes OUTPUT, a .cpp with the texts of catalog/{models,gpus,clusters,calibrations}/*.json.
# cmake -DCATALOG=<catalog folder> -DOUTPUT=<file> -P embed_catalog.cmake
file(GLOB paths RELATIVE "${CATALOG}"
  "${CATALOG}/models/*.json" "${CATALOG}/gpus/*.json" "${CATALOG}/clusters/*.json"
  "${CATALOG}/calibrations/*.json")
list(SORT paths)
set(code "// Generated from catalog/ by sim/io/embed_catalog.cmake.\n")
string(APPEND code "#include \"sim/io/catalog.hpp\"\n\nnamespace orrery {\n\n")
string(APPEND code "CatalogFiles embedded_catalog_files() {\n  CatalogFiles files;\n")
foreach(path IN LISTS paths)
  file(READ "${CATALOG}/${path}" text)
  string(APPEND code "  files.emplace(\"${path}\", R\"orrery(${text})orrery\");\n")
endforeach()
string(APPEND code "  return files;\n}\n\n}  // namespace orrery\n")
file(WRITE "${OUTPUT}" "${code}")
